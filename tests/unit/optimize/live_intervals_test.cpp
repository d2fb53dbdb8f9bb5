// Live intervals at every slot against a reference that follows paths; phis against iterated dominance frontiers;
// edits against computing anew.
#include "analysis/dataflow/live_intervals.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "list_edits.h"
#include "random_function.h"
#include "random_graph.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

constexpr std::size_t kEntry = SIZE_MAX;  // as a definition: what was there where control entered

// A function as statements, by InstrId, with sets of registers as bits.
struct Statement {
  uint64_t reads = 0, writes = 0, mods = 0;
  std::vector<std::size_t> next, before;
  bool returnsAtEnd = false;  // the end of the text follows
};
struct Program {
  std::vector<Statement> statements;
  std::vector<std::size_t> roots;
  uint64_t returned = 0;
  std::vector<bool> reachable;

  void finish() {
    for (std::size_t i = 0; i < statements.size(); ++i)
      for (const std::size_t n : statements[i].next) statements[n].before.push_back(i);
    reachable.assign(statements.size(), false);
    std::vector<std::size_t> todo = roots;
    while (!todo.empty()) {
      const std::size_t i = todo.back();
      todo.pop_back();
      if (reachable[i]) continue;
      reachable[i] = true;
      todo.insert(todo.end(), statements[i].next.begin(), statements[i].next.end());
    }
  }

  // Whether some path from before statement `at` reads the register before it writes it in full.
  bool isLiveBefore(std::size_t at, uint64_t reg) const {
    std::vector<bool> seen(statements.size());
    std::vector<std::size_t> todo{at};
    while (!todo.empty()) {
      const std::size_t i = todo.back();
      todo.pop_back();
      if (seen[i]) continue;
      seen[i] = true;
      const Statement& s = statements[i];
      if (s.reads & reg) return true;
      if (s.writes & reg) continue;
      if (s.returnsAtEnd && (returned & reg)) return true;
      todo.insert(todo.end(), s.next.begin(), s.next.end());
    }
    return false;
  }
  bool isLiveBehind(std::size_t at, uint64_t reg) const {
    if (statements[at].returnsAtEnd && (returned & reg)) return true;
    for (const std::size_t n : statements[at].next)
      if (isLiveBefore(n, reg)) return true;
    return false;
  }
  // The statements that may have written the register last, before `at`.
  std::set<std::size_t> reaching(std::size_t at, uint64_t reg) const {
    std::set<std::size_t> found;
    std::vector<bool> seen(statements.size());
    std::vector<std::size_t> todo{at};
    while (!todo.empty()) {
      const std::size_t i = todo.back();
      todo.pop_back();
      if (std::count(roots.begin(), roots.end(), i) != 0) found.insert(kEntry);
      for (const std::size_t b : statements[i].before) {
        if (!reachable[b] || seen[b]) continue;
        seen[b] = true;
        if ((statements[b].writes | statements[b].mods) & reg)
          found.insert(b);
        else
          todo.push_back(b);
      }
    }
    return found;
  }
};

std::string nameOf(const Parsed& p, const Function& f, std::size_t reg) {
  if (reg == 0) return "carry";
  std::size_t ordinal = 1;
  for (std::size_t r = 1; r < reg; ++r) ordinal += f.registers[r].name == f.registers[reg].name;
  return std::string(p.name(f.registers[reg].name)) + (ordinal == 1 ? "" : "#" + std::to_string(ordinal));
}

// From the generator's notes, which never looked at the IR.
Program programOf(const Parsed& p, const Function& f, const RandomFunction& g) {
  std::map<std::string, uint64_t> bits;
  REQUIRE(f.registers.size() <= 64);
  for (std::size_t r = 0; r < f.registers.size(); ++r) bits[nameOf(p, f, r)] = uint64_t{1} << r;
  const auto mask = [&](const std::set<std::string>& names) {
    uint64_t m = 0;
    for (const std::string& n : names) m |= bits.at(n);
    return m;
  };
  Program program;
  for (std::size_t i = 0; i < g.statements.size(); ++i) {
    const RandomStatement& s = g.statements[i];
    Statement t{mask(s.reads), mask(s.writes), mask(s.mods), {}, {}};
    for (const std::size_t n : g.successors(i)) {
      if (n == g.statements.size())
        t.returnsAtEnd = true;
      else
        t.next.push_back(n);
    }
    program.statements.push_back(std::move(t));
  }
  program.returned = bits.at("%o");
  program.roots = {0};
  program.finish();
  return program;
}

// From the IR, for what the generator does not make.
Program programOf(const Function& f, const Cfg& cfg) {
  Program program;
  program.statements.resize(f.instructions.size());
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    const Block& block = cfg[BlockId(b)];
    for (InstrId id = block.first;; id = f[id].next) {
      Statement& t = program.statements[id.value];
      for (const Operand& o : f.operandsOf(f[id])) {
        if (!o.isRegister()) continue;
        const uint64_t bit = uint64_t{1} << o.payload;
        if (o.reads()) t.reads |= bit;
        if (o.role == Role::Def) t.writes |= bit;
        if (o.role == Role::Mod) t.mods |= bit;
      }
      if (id == block.last) break;
      t.next.push_back(f[id].next.value);
    }
    for (const BlockId s : cfg.successors(BlockId(b)))
      program.statements[block.last.value].next.push_back(cfg[s].first.value);
  }
  for (const BlockId r : cfg.roots()) program.roots.push_back(cfg[r].first.value);
  program.finish();
  return program;
}

std::size_t phis = 0, partials = 0, undefined = 0;

class Checker {
 public:
  Checker(const Function& f, const Cfg& cfg, const SlotIndexes& slots, const LiveIntervals& intervals,
          const Program& program)
      : f_(f), cfg_(cfg), slots_(slots), intervals_(intervals), program_(program) {
    std::map<SlotIndex, uint32_t> starts;
    for (uint32_t b = 0; b < cfg.size(); ++b) blockAt_[slots.start(BlockId(b))] = BlockId(b);
    findFrontiers();
  }

  void all() {
    REQUIRE(intervals_.verify() == "");
    for (std::size_t r = 0; r < f_.registers.size(); ++r) {
      const LiveRange& range = intervals_[RegId(r)];
      CAPTURE(range.toString());
      resolved_.clear();
      checkRegister(range, uint64_t{1} << r);
      checkPhis(range);
    }
  }

 private:
  void checkRegister(const LiveRange& range, uint64_t reg) {
    for (uint32_t b = 0; b < cfg_.size(); ++b) {
      const BlockId block(b);
      const std::size_t first = cfg_[block].first.value;
      bool reachable = false;  // by any of its labels
      for (InstrId id = cfg_[block].first; id.valid(); id = id == cfg_[block].last ? InstrId() : f_[id].next)
        reachable = reachable || program_.reachable[id.value];
      if (reachable != cfg_[block].reachable) FAIL("whether block " << b << " is reachable");
      const SlotIndex start = slots_.start(block);
      bool live = reachable && program_.isLiveBefore(first, reg);
      expect(range, start, live);
      SlotIndex last = start;
      for (const InstrId id : slots_.instructions(block)) {
        const SlotIndex i = slots_[id];
        const Statement& s = program_.statements[id.value];
        expect(range, i.previous(), live);
        expect(range, i, live);
        expect(range, i.at(SlotIndex::EarlyClobber), live);
        if (range.valueIn(i).valid() != live) FAIL("valueIn of statement " << id.value);
        if (live) expectValue(range, i, id.value, reg);
        const bool behind = reachable && program_.isLiveBehind(id.value, reg);
        const bool writes = reachable && ((s.writes | s.mods) & reg);
        expect(range, i.reg(), behind || writes);
        expect(range, i.dead(), behind);
        const ValueId in = range.valueIn(i), out = range.valueOut(i);
        if (out.valid() != writes) FAIL("valueOut of statement " << id.value);
        if (writes) {
          const LiveValue& v = range[out];
          partials += v.isPartial;
          if (v.kind != ValueKind::Instruction || v.def != i.reg() || v.isPartial != ((s.mods & reg) != 0))
            FAIL("the value that begins at statement " << id.value);
          if (out == in) FAIL("a value goes through a definition: " << id.value);
        } else if (behind && range.valueAt(i.dead()) != in) {
          FAIL("the value changes at statement " << id.value);
        }
        live = behind;
        last = i;
      }
      const SlotIndex end = slots_.last(block);
      expect(range, end, live && reachable);
      if (live && range.valueAt(end) != range.valueAt(last.dead())) FAIL("the value changes in block " << b);
    }
  }

  void expect(const LiveRange& range, SlotIndex i, bool live) {
    if (range.isLiveAt(i) != live) FAIL("live at " << ptxopt::toString(i) << " should be " << live);
  }

  void expectValue(const LiveRange& range, SlotIndex i, std::size_t statement, uint64_t reg) {
    const auto expected = program_.reaching(statement, reg);
    if (resolve(range, range.valueIn(i)) != expected) FAIL("definitions that reach statement " << statement);
    undefined += expected.count(kEntry);
  }

  // The definitions that a value stands for: phis and entry values followed to where control came from.
  const std::set<std::size_t>& resolve(const LiveRange& range, ValueId value) {
    const auto known = resolved_.find(value);
    if (known != resolved_.end()) return known->second;
    std::set<std::size_t> result;
    std::set<ValueId> seen;
    std::vector<ValueId> todo{value};
    while (!todo.empty()) {
      const ValueId v = todo.back();
      todo.pop_back();
      if (!seen.insert(v).second) continue;
      const LiveValue& x = range[v];
      if (x.kind == ValueKind::Instruction) {
        result.insert(slots_.instructionAt(x.def).value);
        continue;
      }
      const BlockId b = blockAt_.at(x.def);
      if (x.kind == ValueKind::Entry) {
        REQUIRE(std::count(cfg_.roots().begin(), cfg_.roots().end(), b) == 1);
        result.insert(kEntry);
      }
      for (const BlockId p : cfg_.predecessors(b)) {
        if (!cfg_[p].reachable) continue;
        const ValueId in = range.valueAt(slots_.last(p));
        REQUIRE(in.valid());
        todo.push_back(in);
      }
    }
    return resolved_[value] = result;
  }

  // Dominance frontiers, from the definition.
  void findFrontiers() {
    const DominatorTree tree(cfg_, DominatorTree::Direction::Dominators);
    const auto n = static_cast<uint32_t>(cfg_.size());
    frontier_.resize(n);
    for (uint32_t a = 0; a < n; ++a)
      for (uint32_t p = 0; p < n; ++p)
        for (const BlockId b : cfg_.successors(BlockId(p)))
          if (tree.dominates(BlockId(a), BlockId(p)) && (a == b.value || !tree.dominates(BlockId(a), b)))
            frontier_[a].insert(b.value);
  }

  void checkPhis(const LiveRange& range) {
    std::set<uint32_t> found, expected, defining;
    for (const LiveValue& v : range.values()) {
      if (v.kind == ValueKind::Phi && !found.insert(blockAt_.at(v.def).value).second) FAIL("two phis in a block");
      if (v.kind != ValueKind::Phi) defining.insert(slots_.blockAt(v.def).value);
    }
    std::vector<uint32_t> todo(defining.begin(), defining.end());
    while (!todo.empty()) {
      const uint32_t b = todo.back();
      todo.pop_back();
      for (const uint32_t d : frontier_[b]) {
        const bool isRoot = std::count(cfg_.roots().begin(), cfg_.roots().end(), BlockId(d)) != 0;
        if (isRoot || !range.isLiveAt(slots_.start(BlockId(d))) || !expected.insert(d).second) continue;
        todo.push_back(d);
      }
    }
    if (found != expected) FAIL("phis");
    phis += found.size();
  }

  const Function& f_;
  const Cfg& cfg_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  const Program& program_;
  std::map<SlotIndex, BlockId> blockAt_;
  std::vector<std::set<uint32_t>> frontier_;
  std::map<ValueId, std::set<std::size_t>> resolved_;
};

// Blocks that read, write and write in part a few registers, and labels used as values.
std::string randomCode(uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::string graph = randomGraph(seed, 9);
  const std::string lines[] = {"mov.b32 %x, 1;\n",         "mov.b32 %y, %x;\n",         "st.global.b32 [%a], %x;\n",
                               "@%p mov.b32 %x, 2;\n",     "add.s32 %x, %x, %y;\n",     "@%q add.s32 %y, %x, %y;\n",
                               "setp.eq.s32 %q, %x, 1;\n", "st.global.b32 [%a], %y;\n", "bar.sync 0;\n"};
  std::string text;
  for (std::size_t at = 0; at < graph.size();) {
    const std::size_t end = graph.find('\n', at) + 1;
    const std::string line = graph.substr(at, end - at);
    at = end;
    if (line == "bar.sync 0;\n") {
      for (std::size_t n = random() % 3; n-- > 0;) text += lines[random() % std::size(lines)];
      continue;
    }
    text += line;
    if (line == "{\n") text += ".reg .b32 %x, %y; .reg .b64 %a; .reg .pred %q;\n";
  }
  return text;
}

}  // namespace

TEST_CASE("live intervals: as the paths say, on random functions") {
  phis = partials = undefined = 0;
  for (uint64_t seed = 1; seed <= 1200; ++seed) {
    const RandomFunction g(seed);
    CAPTURE(seed);
    CAPTURE(g.text);
    const Parsed p(g.text);
    const Function& f = p.function(1);
    const Cfg cfg(*p, f);
    const SlotIndexes slots(f, cfg);
    const LiveIntervals intervals(f, cfg, slots);
    const Program program = programOf(p, f, g);
    Checker(f, cfg, slots, intervals, program).all();
  }
  CHECK(phis > 500);
  CHECK(partials > 500);
  CHECK(undefined > 500);
}

TEST_CASE("live intervals: as the paths say, with several ways in") {
  phis = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    const std::string text = randomCode(seed);
    CAPTURE(text);
    const Parsed p(text);
    const Function& f = p.function();
    const Cfg cfg(*p, f);
    const SlotIndexes slots(f, cfg);
    const LiveIntervals intervals(f, cfg, slots);
    const Program program = programOf(f, cfg);
    Checker(f, cfg, slots, intervals, program).all();
  }
  CHECK(phis > 500);
}

namespace {

// The range of a register as text, numbers divided by the spacing: "[2r,4r:0) 0@2r".
std::string rangeOf(std::string_view body, std::string_view reg) {
  const Parsed p(
      kHeader +
      ".func g()\n;\n.func (.reg .b32 %o) f(.reg .b32 %i)\n{\n.reg .b32 %r<9>; .reg .pred %p; .reg .b64 %a;\n" +
      std::string(body) + "}\n");
  const Function& f = p.function(1);
  const Cfg cfg(*p, f);
  const SlotIndexes slots(f, cfg);
  const LiveIntervals intervals(f, cfg, slots);
  CHECK(intervals.verify() == "");
  const DominatorTree tree(cfg, DominatorTree::Direction::Dominators);
  CHECK(intervals == LiveIntervals(f, cfg, slots, &tree));
  for (std::size_t r = 0; r < f.registers.size(); ++r) {
    if (nameOf(p, f, r) != reg) continue;
    std::string text = intervals[RegId(r)].toString(), shown;
    for (std::size_t k = 0; k < text.size();) {
      std::size_t end = k;
      while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
      if (end > k && (end < text.size() && std::string_view("Berd").find(text[end]) != std::string_view::npos))
        shown += std::to_string(std::stoul(text.substr(k, end - k)) / 64);
      else
        shown += text.substr(k, end - k);
      if (end < text.size()) shown += text[end];
      k = end + 1;
    }
    return shown;
  }
  return "no such register";
}

}  // namespace

TEST_CASE("live intervals: by hand") {
  // Block 0 begins at 0; the first instruction is 1.
  CHECK(rangeOf("mov.b32 %r1, 1;\nst.global.b32 [%a], %r1;\nret;\n", "%r1") == "[1r,2r:0) 0@1r");
  CHECK(rangeOf("mov.b32 %r1, 1;\nret;\n", "%r1") == "[1r,1d:0) 0@1r");
  CHECK(rangeOf("mov.b32 %r1, 1;\nadd.s32 %r1, %r1, %r1;\nst.global.b32 [%a], %r1;\nret;\n", "%r1") ==
        "[1r,2r:0) [2r,3r:1) 0@1r 1@2r");
  // Undefined on entry; a parameter; one that nothing reads.
  CHECK(rangeOf("st.global.b32 [%a], %r1;\nret;\n", "%r1") == "[0B,1r:0) 0@0B-entry");
  CHECK(rangeOf("st.global.b32 [%a], %i;\nret;\n", "%i") == "[0B,1r:0) 0@0B-entry");
  CHECK(rangeOf("ret;\n", "%i") == "");
  // A guard makes the definition partial.
  CHECK(rangeOf("mov.b32 %r1, 1;\n@%p mov.b32 %r1, 2;\nst.global.b32 [%a], %r1;\nret;\n", "%r1") ==
        "[1r,2r:0) [2r,3r:1) 0@1r 1@2r-partial");
  // A diamond, and a loop. (Branches end blocks; each block's start takes a number.)
  CHECK(rangeOf("@%p bra E;\nmov.b32 %r1, 1;\nbra J;\nE:\nmov.b32 %r1, 2;\nJ:\nst.global.b32 [%a], %r1;\nret;\n",
                "%r1") == "[3r,5B:0) [6r,7B:1) [7B,8r:2) 0@3r 1@6r 2@7B-phi");
  CHECK(rangeOf("mov.b32 %r1, 1;\nL:\nadd.s32 %r1, %r1, 1;\n@%p bra L;\nret;\n", "%r1") ==
        "[1r,2B:0) [2B,3r:1) [3r,5B:2) 0@1r 1@2B-phi 2@3r");
  // Results: read where the function returns, by `ret` or at the end of the text, not by `exit`.
  CHECK(rangeOf("mov.b32 %o, 1;\nbar.sync 0;\nret;\n", "%o") == "[1r,3r:0) 0@1r");
  CHECK(rangeOf("mov.b32 %o, 1;\nbar.sync 0;\n", "%o") == "[1r,3B:0) 0@1r");
  CHECK(rangeOf("mov.b32 %o, 1;\nbar.sync 0;\nexit;\n", "%o") == "[1r,1d:0) 0@1r");
  CHECK(rangeOf("mov.b32 %o, 1;\n@%p exit;\nret;\n", "%o") == "[1r,4r:0) 0@1r");
  // What nothing reaches does not count.
  CHECK(rangeOf("mov.b32 %r1, 1;\nret;\nst.global.b32 [%a], %r1;\nret;\n", "%r1") == "[1r,1d:0) 0@1r");
}

TEST_CASE("live intervals: nested loops take a phi only where values meet") {
  // %r1 changes in the outer loop, behind the inner one, whose header needs no phi.
  CHECK(rangeOf("mov.b32 %r1, 1;\nO:\nbar.sync 0;\nI:\nst.global.b32 [%a], %r1;\n@%p bra I;\nmov.b32 %r1, "
                "2;\nX:\n@%p bra O;\nret;\n",
                "%r1") == "[1r,2B:0) [2B,7B:1) [8r,11B:2) 0@1r 1@2B-phi 2@8r");
}

TEST_CASE("live intervals: bringing them up to date after random edits is computing all") {
  struct State {
    State(const Parsed& p, const Function& f) : cfg(*p, f), dominators(cfg, DominatorTree::Direction::Dominators) {}
    Cfg cfg;
    DominatorTree dominators;
    std::optional<LiveIntervals> intervals;
  };
  std::size_t updates = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    const Parsed p(randomFunction(seed, {.mostBlocks = 6, .mostStatements = 8}));
    Function& f = p.function(1);
    std::mt19937_64 random(seed);
    auto before = std::make_unique<State>(p, f);
    SlotIndexes slots(f, before->cfg);
    before->intervals.emplace(f, before->cfg, slots, &before->dominators);
    for (int iteration = 0; iteration < 12; ++iteration) {
      std::vector<InstrId> plain;  // what ends no block and begins none
      for (uint32_t b = 0; b < before->cfg.size(); ++b)
        for (const InstrId id : slots.instructions(BlockId(b)))
          if (id != before->cfg[BlockId(b)].last && id != before->cfg[BlockId(b)].first) plain.push_back(id);
      if (plain.size() < 3) break;
      for (uint64_t edits = random() % 4; edits != 0; --edits) {
        const InstrId id = plain[random() % plain.size()], other = plain[random() % plain.size()];
        if (f[id].is(Instruction::Erased) || f[other].is(Instruction::Erased)) continue;
        switch (random() % 4) {
          case 0: f.erase(id); break;
          case 1: insertCopy(f, other, id); break;
          case 2:
            if (id != other) f.moveBefore(id, other);
            break;
          default:  // one register becomes another
            for (Operand& o : f.operandsOf(f[id])) {
              if (!o.isRegister() || o.reg() == Function::kCarry) continue;
              o.payload = static_cast<uint32_t>(1 + random() % (f.registers.size() - 1));
              break;
            }
        }
      }
      auto now = std::make_unique<State>(p, f);
      bool hasSameEdges = false;
      REQUIRE(Cfg(*p, f, Cfg(before->cfg), hasSameEdges) == now->cfg);
      REQUIRE(hasSameEdges);
      if (slots.update(f, now->cfg)) {
        now->intervals.emplace(f, now->cfg, slots, now->dominators, *std::move(before->intervals));
        ++updates;
      } else {
        now->intervals.emplace(f, now->cfg, slots, &now->dominators);
      }
      REQUIRE(now->intervals->verify() == "");
      REQUIRE(*now->intervals == LiveIntervals(f, now->cfg, slots));
      before = std::move(now);
    }
  }
  CHECK(updates > 500);
}

TEST_CASE("live intervals: those of some registers are those of all") {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const Parsed p(randomFunction(seed));
    const Function& f = p.function(1);
    const Cfg cfg(*p, f);
    const SlotIndexes slots(f, cfg);
    const DominatorTree dominators(cfg, DominatorTree::Direction::Dominators);
    std::vector<RegId> wanted;
    for (std::size_t r = seed % 3; r < f.registers.size(); r += 3) wanted.emplace_back(r);
    const LiveIntervals all(f, cfg, slots, &dominators), some(f, cfg, slots, dominators, wanted);
    for (std::size_t r = 0; r < f.registers.size(); ++r)
      if (r % 3 == seed % 3 ? some[RegId(r)] != all[RegId(r)] : !some[RegId(r)].empty()) FAIL("register " << r);
  }
}

TEST_CASE(
    "live intervals: the same from the live-in blocks of liveness, whatever its solver, on random functions") {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const Parsed p(randomFunction(seed, {.mostBlocks = 1 + seed % 20, .mostStatements = 8}));
    const Function& f = p.function(1);
    CAPTURE(p.source);
    const Cfg cfg(*p, f);
    const SlotIndexes slots(f, cfg);
    const LiveIntervals byRegister(f, cfg, slots);
    for (const auto form : {Liveness::Form::Dense, Liveness::Form::Sparse}) {
      const Liveness liveness(*p, f, cfg, RegisterFiles(f), Liveness::Strength::Plain, {.form = form});
      REQUIRE(LiveIntervals(f, cfg, slots, nullptr, &liveness) == byRegister);
    }
  }
}
