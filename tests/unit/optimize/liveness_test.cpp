// Liveness against a reference that follows paths, on random functions; and by hand.
//
// The reference never looks at the IR: the generator that writes the text also notes for each statement what it
// reads, what it writes in full, whether it could be removed, and where control goes.
#include "analysis/dataflow/liveness.h"

#include <map>
#include <random>
#include <set>

#include "ir/verify.h"
#include "passes/manager/pass.h"
#include "random_function.h"
#include "support.h"
#include "text/print.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

class Reference {
 public:
  Reference(const RandomFunction& g, bool onlyNeeded) : needed_(g.statements.size(), true) {
    for (std::size_t i = 0; i < needed_.size(); ++i) {
      reads_.push_back(mask(g.statements[i].reads));
      writes_.push_back(mask(g.statements[i].writes));
      successors_.push_back(g.successors(i));
    }
    if (!onlyNeeded) return;
    for (std::size_t i = 0; i < needed_.size(); ++i) needed_[i] = !g.statements[i].removable;
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = 0; i < needed_.size(); ++i) {
        if (needed_[i]) continue;
        std::set<std::string> results = g.statements[i].writes;
        results.insert(g.statements[i].mods.begin(), g.statements[i].mods.end());
        for (const std::string& r : results)
          for (const std::size_t s : successors_[i])
            if (!needed_[i] && isLive(s, r)) needed_[i] = again = true;
      }
    }
  }

  bool isNeeded(std::size_t i) const { return needed_[i]; }

  // Whether some path from before statement `at` reads `r`, in a needed statement, before one writes it in full.
  bool isLive(std::size_t at, const std::string& r) const {
    const auto it = numbers_.find(r);
    const uint64_t bit = it == numbers_.end() ? 0 : uint64_t{1} << it->second;
    std::vector<bool> seen(needed_.size() + 1);
    std::vector<std::size_t> todo{at};
    while (!todo.empty()) {
      const std::size_t i = todo.back();
      todo.pop_back();
      if (seen[i]) continue;
      seen[i] = true;
      if (i == needed_.size()) {  // the end of the text returns
        if (r == "%o") return true;
        continue;
      }
      if (needed_[i] && (reads_[i] & bit) != 0) return true;
      if ((writes_[i] & bit) != 0) continue;
      for (const std::size_t next : successors_[i]) todo.push_back(next);
    }
    return false;
  }

 private:
  uint64_t mask(const std::set<std::string>& names) {
    uint64_t bits = 0;
    for (const std::string& name : names)
      bits |= uint64_t{1} << numbers_.emplace(name, numbers_.size()).first->second;
    REQUIRE(numbers_.size() <= 64);
    return bits;
  }

  std::vector<bool> needed_;
  std::map<std::string, std::size_t> numbers_;
  std::vector<uint64_t> reads_, writes_;  // by statement
  std::vector<std::vector<std::size_t>> successors_;
};

// As random_function.h names registers.
std::string nameOf(const Parsed& p, const Function& f, std::size_t reg) {
  if (reg == 0) return "carry";
  std::size_t ordinal = 1;
  for (std::size_t r = 1; r < reg; ++r) ordinal += f.registers[r].name == f.registers[reg].name;
  return std::string(p.name(f.registers[reg].name)) + (ordinal == 1 ? "" : "#" + std::to_string(ordinal));
}

void compare(uint64_t seed, const RandomOptions& options = {}) {
  const RandomFunction g(seed, options);
  CAPTURE(seed);
  CAPTURE(g.text);
  const Parsed p(g.text);
  const Function& f = p.function(1);
  REQUIRE(f.instructions.size() == g.statements.size());
  const Cfg cfg(*p, f);
  std::vector<std::string> names;
  for (std::size_t r = 0; r < f.registers.size(); ++r) names.push_back(nameOf(p, f, r));
  for (const bool onlyNeeded : {false, true})
    for (const auto form : {Liveness::Form::Dense, Liveness::Form::Sparse}) {
      const auto strength = onlyNeeded ? Liveness::Strength::Needed : Liveness::Strength::Plain;
      CAPTURE(onlyNeeded);
      CAPTURE(form == Liveness::Form::Sparse);
      const Reference reference(g, onlyNeeded);
      const Liveness liveness(*p, f, cfg, RegisterFiles(f), strength, {.form = form});
      REQUIRE(liveness.solved());
      REQUIRE(liveness.isSparse() == (form == Liveness::Form::Sparse));
      Liveness::Walk walk(liveness);
      for (uint32_t b = 0; b < cfg.size(); ++b) {
        const Block& block = cfg[BlockId(b)];
        // At the start of the block.
        std::set<std::string> live;
        liveness.forEachLiveIn(BlockId(b), [&](RegId reg) { live.insert(names[reg.value]); });
        std::set<std::string> expected;
        for (std::size_t r = 0; r < f.registers.size(); ++r)
          if (reference.isLive(block.first.value, names[r])) expected.insert(names[r]);
        if (live != expected) FAIL("live at the start of block " << b << " differs");
        // Before each instruction.
        walk.startAtEnd(BlockId(b));
        for (InstrId id = block.last; id.valid(); id = id == block.first ? InstrId() : f[id].previous) {
          const bool needed = !onlyNeeded || walk.writesLive(f[id]) || !isRemovable(*p, f, f[id]);
          if (onlyNeeded && f[id].isInstruction() && needed != reference.isNeeded(id.value))
            FAIL("needed differs at " << g.statements[id.value].text);
          if (needed) walk.before(f[id]);
          for (std::size_t r = 0; r < f.registers.size(); ++r)
            if (walk.isLive(RegId(r)) != reference.isLive(id.value, names[r]))
              FAIL(names[r] << " before " << g.statements[id.value].text);
        }
      }
    }
}

using LiveRegisters = std::vector<std::set<uint32_t>>;  // by block

LiveRegisters liveRegisters(const Cfg& cfg, const Liveness& liveness) {
  REQUIRE(liveness.solved());
  LiveRegisters all(cfg.size());
  for (uint32_t b = 0; b < cfg.size(); ++b)
    liveness.forEachLiveIn(BlockId(b), [&](RegId reg) { all[b].insert(reg.value); });
  return all;
}

// The solvers agree, whatever the form of the answer, and so does every split into files.
void compareSolvers(uint64_t seed, const RandomOptions& options) {
  const Parsed p(randomFunction(seed, options));
  const Function& f = p.function(1);
  CAPTURE(p.source);
  const Cfg cfg(*p, f);
  std::mt19937_64 random(seed);
  using Form = Liveness::Form;
  for (const auto strength : {Liveness::Strength::Plain, Liveness::Strength::Needed}) {
    RegisterFiles files(f);
    const Liveness bySets(*p, f, cfg, files, strength, {.form = Form::Dense});
    const Liveness byWalking(*p, f, cfg, files, strength, {.walkOnly = true, .form = Form::Dense});
    const Liveness sparse(*p, f, cfg, files, strength, {.form = Form::Sparse});
    REQUIRE_FALSE(bySets.isSparse());
    REQUIRE(sparse.isSparse());
    REQUIRE(bySets == byWalking);
    REQUIRE(bySets == sparse);
    REQUIRE(sparse == byWalking);
    REQUIRE(sparse == Liveness(*p, f, cfg, files, strength, {.form = Form::Sparse}));
    const Liveness plain(*p, f, cfg, files, Liveness::Strength::Plain, {.form = Form::Sparse});
    REQUIRE(sparse == Liveness(*p, f, cfg, files, strength, {.form = Form::Sparse}, &plain));
    const LiveRegisters expected = liveRegisters(cfg, bySets);
    REQUIRE(liveRegisters(cfg, sparse) == expected);
    BitVector some(f.registers.size());
    for (std::size_t r = 0; r < some.size(); ++r)
      if (random() % 2 == 0) some.set(r);
    files.moveToUniform(some);
    const Form form = random() % 2 == 0 ? Form::Dense : Form::Sparse;
    const Liveness split(*p, f, cfg, files, strength, {.walkOnly = random() % 4 == 0, .form = form});
    REQUIRE(liveRegisters(cfg, split) == expected);
    const RegisterNumbers splitNumbers(f, cfg, files);
    REQUIRE(split == bySets);
    for (const RegisterFile file : kRegisterFiles)
      for (const RegId reg : splitNumbers[file].registers) REQUIRE(files.of(reg) == file);
  }
}

std::string liveAt(const Parsed& p, const char* label, Liveness::Strength strength, std::size_t function = 0) {
  const Function& f = p.function(function);
  const Cfg cfg(*p, f);
  const Liveness liveness(*p, f, cfg, RegisterFiles(f), strength, {});
  std::string text;
  for (const Label& l : f.labels) {
    if (p.name(l.name) != label) continue;
    std::set<std::string> names;
    liveness.forEachLiveIn(cfg.blockOf(l.place), [&](RegId reg) { names.insert(nameOf(p, f, reg.value)); });
    for (const std::string& n : names) text += (text.empty() ? "" : " ") + n;
  }
  return text;
}

}  // namespace

TEST_CASE("liveness: as the paths say, on random functions" * doctest::test_suite("slow")) {
  for (uint32_t seed = 1; seed <= 700; ++seed) compare(seed);
}

TEST_CASE("liveness: as the paths say, on larger random functions") {
  for (uint64_t seed = 1; seed <= 12; ++seed)
    compare(seed, {.mostBlocks = 40, .mostStatements = 9, .guardPercent = 15, .scopePercent = 10});
}

TEST_CASE("liveness: both solvers, however registers are split into files") {
  for (uint64_t seed = 1; seed <= 300; ++seed) compareSolvers(seed, {});
  for (uint64_t seed = 1; seed <= 60; ++seed) compareSolvers(seed, {.mostBlocks = 60, .mostStatements = 12});
}

TEST_CASE("liveness: the solver goes by size and shape") {
  using Solver = Liveness::Solver;
  const auto solved = [](int instructions, bool hasLabel, Liveness::Limits limits = {}) {
    std::string body = hasLabel ? "L:\n" : "";
    for (int k = 0; k + 1 < instructions; ++k) body += "st.global.u32 [%rd1], %r1;\n";
    const Parsed p(kernel(body + (hasLabel ? "@%p1 bra L;\n" : "ret;\n")));
    const Cfg cfg(*p, p.function());
    std::string how;
    Solver solver{};
    for (const auto strength : {Liveness::Strength::Plain, Liveness::Strength::Needed}) {
      const Liveness liveness(*p, p.function(), cfg, RegisterFiles(p.function()), strength, limits);
      how = liveness.howSolved();
      solver = liveness.solver();
    }
    return std::pair(solver, how);
  };
  // The label is a block of its own, which iterates.
  CHECK(solved(15, true) == std::pair(Solver::Walking, std::string("by walking, 2 sweeps")));
  CHECK(solved(16, true) == std::pair(Solver::Sets, std::string("by sets, 2 sweeps")));
  CHECK(solved(16, true, {.walkOnly = true}).first == Solver::Walking);
  CHECK(solved(40, false) == std::pair(Solver::Walking, std::string("by walking, 1 sweep")));
  CHECK(solved(16, true, {.form = Liveness::Form::Sparse}).first == Solver::Sparse);
  CHECK(solved(16, true, {.mostBytes = 8}).second == "not solved");
}

TEST_CASE("liveness: plain liveness after dce is what needed liveness was before it, on random functions") {
  std::size_t kept = 0;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    const Parsed p(randomFunction(seed, {.mostBlocks = 1 + seed % 12}));
    Function& f = p.function(1);
    CAPTURE(p.source);
    Knobs knobs;
    REQUIRE(knobs.set("remove-unreachable", seed % 2).empty());
    Analyses analyses(*p, f, livenessLimits(knobs));
    // What was solved before must not be taken for what is left.
    if (seed % 3 == 0) analyses.liveness(Liveness::Strength::Plain);
    PassReport report;
    PassContext context{*p, knobs, analyses, moduleFacts(*p, knobs), report};
    if (dce(f, context)) analyses.invalidate(context.preserved);
    analyses.cfg();
    REQUIRE(analyses.stale() == "");
    analyses.noteMade();
    const Liveness& liveness = analyses.liveness(Liveness::Strength::Plain);
    REQUIRE(liveness == Liveness(*p, f, analyses.cfg(), RegisterFiles(f), Liveness::Strength::Plain, {}));
    kept += analyses.made().find("liveness") == std::string::npos;
  }
  CHECK(kept > 200);
}

TEST_CASE("dce: removes just what the reference does not need, on random functions") {
  std::size_t removed = 0;
  for (uint32_t seed = 5001; seed <= 6000; ++seed) {
    RandomFunction g(seed);
    CAPTURE(seed);
    CAPTURE(g.text);
    const Parsed p(g.text);
    Function& f = p.function(1);
    const Cfg cfg(*p, f);
    const Reference reference(g, true);
    Knobs knobs;
    REQUIRE(knobs.set("remove-unreachable", 0).empty());
    Analyses analyses(*p, f, livenessLimits(knobs));
    PassReport report;
    PassContext context{*p, knobs, analyses, moduleFacts(*p, knobs), report};
    std::vector<bool> expected(g.statements.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = !reference.isNeeded(i) && cfg[cfg.blockOf(InstrId(i))].reachable;
    dce(f, context);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (f.instructions[i].is(Instruction::Erased) != expected[i]) FAIL("differs at " << g.statements[i].text);
      removed += expected[i];
    }
  }
  CHECK(removed > 1000);
}

namespace {

// What each use may read: for each operand that reads, the instructions that may have written it, found by walking
// all paths backward to a full write. UINT32_MAX stands for what was there on entry.
std::vector<std::set<uint32_t>> readsFrom(const Function& f, const RandomFunction& g) {
  std::vector<std::vector<std::size_t>> predecessors(g.statements.size());
  for (std::size_t i = 0; i < g.statements.size(); ++i)
    for (const std::size_t s : g.successors(i))
      if (s < g.statements.size()) predecessors[s].push_back(i);
  std::vector<std::set<uint32_t>> result;
  for (std::size_t use = 0; use < f.instructions.size(); ++use) {
    for (const Operand& o : f.operandsOf(f.instructions[use])) {
      if (!o.isRegister() || !o.reads()) continue;
      std::set<uint32_t> from;
      std::vector<bool> seen(f.instructions.size());
      std::vector<std::size_t> todo{use};
      while (!todo.empty()) {
        const std::size_t at = todo.back();
        todo.pop_back();
        if (at == 0) from.insert(UINT32_MAX);
        for (const std::size_t before : predecessors[at]) {
          if (seen[before]) continue;
          seen[before] = true;
          bool isFull = false;
          for (const Operand& w : f.operandsOf(f.instructions[before])) {
            if (!w.isRegister() || !w.writes() || w.reg() != o.reg()) continue;
            from.insert(static_cast<uint32_t>(before));
            isFull = isFull || w.role == Role::Def;
          }
          if (!isFull) todo.push_back(before);
        }
      }
      result.push_back(std::move(from));
    }
  }
  return result;
}

}  // namespace

TEST_CASE("rename-webs: each use reads from the same definitions as before, on random functions") {
  std::size_t renamed = 0;
  for (uint32_t seed = 7001; seed <= 8000; ++seed) {
    RandomFunction g(seed);
    CAPTURE(seed);
    CAPTURE(g.text);
    const Parsed p(g.text);
    Function& f = p.function(1);
    const auto before = readsFrom(f, g);
    Knobs knobs;
    if (seed % 2 == 0) REQUIRE(knobs.set("rename-webs-keep-tied", 1).empty());
    Analyses analyses(*p, f, livenessLimits(knobs));
    PassReport report;
    PassContext context{*p, knobs, analyses, moduleFacts(*p, knobs), report};
    const bool changed = renameWebs(f, context);
    CHECK(changed == f.changed);
    renamed += report.counters["webs-renamed"];
    REQUIRE(readsFrom(f, g) == before);
    REQUIRE(verify(*p, f).empty());
    // Twice is once, also through the text.
    const Parsed again(text::print(*p));
    Function& h = again.function(1);
    Analyses more(*again, h, livenessLimits(knobs));
    PassContext second{*again, knobs, more, moduleFacts(*again, knobs), report};
    CHECK_FALSE(renameWebs(h, second));
  }
  CHECK(renamed > 1000);
}

TEST_CASE("liveness: a counter that feeds only itself is live, but not needed") {
  const Parsed p(
      kernel("mov.u32 %r1, 0;\nL:\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r2, 5;\n@%p1 bra L;\nret;\n"));
  CHECK(liveAt(p, "L", Liveness::Strength::Plain) == "%r1 %r2");
  CHECK(liveAt(p, "L", Liveness::Strength::Needed) == "%r2");
}

TEST_CASE("liveness: a guarded definition keeps the old value live") {
  const Parsed p(kernel("L:\n@%p1 mov.u32 %r1, 2;\nst.global.u32 [%rd1], %r1;\n"));
  CHECK(liveAt(p, "L", Liveness::Strength::Plain) == "%p1 %r1 %rd1");
  const Parsed q(kernel("L:\nmov.u32 %r1, 2;\nst.global.u32 [%rd1], %r1;\n"));
  CHECK(liveAt(q, "L", Liveness::Strength::Plain) == "%rd1");
}

TEST_CASE("liveness: return registers are live at ret and at the end of the text, not at exit") {
  const auto at = [](std::string_view end) {
    return liveAt(
        Parsed(kHeader + ".func (.reg .b32 %o) f()\n{\nbar.sync 0;\nL:\nmembar.gl;\n" + std::string(end) + "}\n"),
        "L", Liveness::Strength::Plain);
  };
  CHECK(at("ret;\n") == "%o");
  CHECK(at("") == "%o");
  CHECK(at("exit;\n") == "");
  CHECK(at("trap;\n") == "");
}

TEST_CASE("liveness: registers of one block have no bits") {
  const Parsed p(
      kernel("mov.u32 %r1, 1;\nst.global.u32 [%rd1], %r1;\nL:\nmov.u32 %r2, 1;\nst.global.u32 [%rd1], %r2;\n"));
  const Cfg cfg(*p, p.function());
  const RegisterNumbers numbers(p.function(), cfg, RegisterFiles(p.function()));
  for (uint32_t r = 0; r < p.function().registers.size(); ++r)
    CHECK(numbers.isGlobal(RegId(r)) == (nameOf(p, p.function(), r) == "%rd1"));
}

TEST_CASE("liveness: declines when the answer would take more than allowed") {
  const Parsed p(kernel("L:\nst.global.u32 [%rd1], %r1;\nM:\nret;\n"));
  const Cfg cfg(*p, p.function());
  CHECK(cfg.size() == 3);
  const RegisterFiles files(p.function());
  for (const auto strength : {Liveness::Strength::Plain, Liveness::Strength::Needed}) {
    const auto make = [&](std::size_t mostBytes, Liveness::Form form) {
      return Liveness(*p, p.function(), cfg, files, strength, {.mostBytes = mostBytes, .form = form});
    };
    // A word for each block.
    CHECK_FALSE(make(23, Liveness::Form::Dense).solved());
    CHECK(make(24, Liveness::Form::Dense).solved());
    // A run for each register.
    CHECK_FALSE(make(15, Liveness::Form::Sparse).solved());
    CHECK(make(16, Liveness::Form::Sparse).solved());
    // What is too much for bits may not be for runs.
    CHECK_FALSE(make(15, Liveness::Form::BySize).solved());
    CHECK(make(16, Liveness::Form::BySize).isSparse());
    CHECK(make(16, Liveness::Form::BySize).solved());
    CHECK_FALSE(make(24, Liveness::Form::BySize).isSparse());
  }
}

TEST_CASE("liveness: runs over many blocks") {
  // More blocks than a shelf has; %r1 is live through all, the others from block to block at distances.
  std::string body;
  constexpr int kBlocks = 200;
  for (int b = 0; b < kBlocks; ++b) {
    body += "L" + std::to_string(b) + ":\nmembar.gl;\n";
    if (b % 7 == 0) body += "mov.u32 %r2, 1;\n";
    if (b % 7 == 5) body += "st.global.u32 [%rd1], %r2;\n";
    if (b == 3) body += "mov.u32 %r3, 1;\n";
    if (b == 170) body += "st.global.u32 [%rd1], %r3;\n@%p1 bra L64;\n";
  }
  const Parsed p(kernel(body + "st.global.u32 [%rd1], %r1;\nret;\n"));
  const Function& f = p.function();
  const Cfg cfg(*p, f);
  const RegisterFiles files(f);
  for (const auto strength : {Liveness::Strength::Plain, Liveness::Strength::Needed}) {
    const Liveness dense(*p, f, cfg, files, strength, {.form = Liveness::Form::Dense});
    const Liveness sparse(*p, f, cfg, files, strength, {.form = Liveness::Form::Sparse});
    CHECK(dense == sparse);
    const LiveRegisters all = liveRegisters(cfg, sparse);
    CHECK(all == liveRegisters(cfg, dense));
    std::size_t registers = 0;
    for (const auto& live : all) registers += live.size();
    CHECK(registers > 3 * kBlocks);
  }
}

TEST_CASE("liveness: what may be removed") {
  const auto removable = [](std::string_view statement) {
    const Parsed p(kernel(std::string(statement) + "\n"));
    return isRemovable(*p, p.function(), p.function()[p.at(0)]);
  };
  CHECK(removable("add.s32 %r1, %r2, %r3;"));
  CHECK(removable("@%p1 add.s32 %r1, %r2, %r3;"));
  CHECK(removable("ld.global.u32 %r1, [%rd1];"));
  CHECK(removable("add.cc.u32 %r1, %r2, %r3;"));
  CHECK(removable("addc.cc.u32 %r1, %r2, %r3;"));
  CHECK(removable("mov.u32 %r1, %tid.x;"));
  CHECK(removable("setp.eq.s32 _|%p1, %r1, 0;"));
  CHECK_FALSE(removable("mov.u32 %r1, %clock;"));
  CHECK_FALSE(removable("mov.u64 %rd1, %globaltimer;"));
  CHECK_FALSE(removable("st.global.u32 [%rd1], %r1;"));
  CHECK_FALSE(removable("atom.global.add.u32 %r1, [%rd1], %r2;"));
  CHECK_FALSE(removable("ld.volatile.global.u32 %r1, [%rd1];"));
  CHECK_FALSE(removable("shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;"));
  CHECK_FALSE(removable("activemask.b32 %r1;"));
  CHECK_FALSE(removable("frob.b32 %r1;"));
  CHECK_FALSE(removable("bra L;\nL:"));
  CHECK_FALSE(removable("ret;"));
  CHECK_FALSE(removable("mbarrier.new_thing.b64 %rd1, [%rd2];"));
}

TEST_CASE("liveness: how many registers are live at the starts of blocks") {
  const Parsed p(
      kernel("mov.u32 %r1, 5;\nmov.u32 %r2, 7;\nL:\nst.global.u32 [0], %r1;\nadd.s32 %r1, %r1, %r2;\n"
             "@%p1 bra L;\nret;\n"));
  Analyses analyses(*p, p.function());
  for (const Liveness::Strength strength : {Liveness::Strength::Plain, Liveness::Strength::Needed}) {
    const Liveness& liveness = analyses.liveness(strength);
    std::size_t all = 0;
    for (uint32_t b = 0; b < analyses.cfg().size(); ++b) liveness.forEachLiveIn(BlockId(b), [&](RegId) { ++all; });
    CHECK(all >= 3);  // two in the loop, and the predicate everywhere
    CHECK(liveness.hasAtMost(all));
    CHECK_FALSE(liveness.hasAtMost(all - 1));
  }
}
