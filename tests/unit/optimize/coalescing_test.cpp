// Coalescing on random functions: every walk through the function finds what it found before; so says the check,
// too, and it says so of nothing that is wrong.
#include <fmt/format.h>

#include "analysis/dataflow/copies.h"
#include "coalescing_model.h"
#include "ir/verify.h"
#include "passes/coalescing/check.h"
#include "passes/coalescing/copy_values.h"
#include "passes/manager/pass.h"
#include "sampled.h"
#include "text/print.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

RandomOptions options(uint64_t seed) {
  RandomOptions o;
  o.mostBlocks = 1 + seed % 9;
  o.mostStatements = 3 + seed % 7;
  o.guardPercent = seed % 3 == 0 ? 5 : 25;
  o.copyPercent = 30 + seed % 5 * 10;
  o.scopePercent = seed % 2 * 30;
  o.startsDefined = seed % 4 != 0;
  o.hidesParameters = seed % 8 == 3;
  return o;
}

// Where one of some walks through both functions, in step, reads something else than before; empty: nowhere.
std::string difference(const RandomFunction& notes, const Parsed& p, const Function& before, const Function& after,
                       uint64_t seed) {
  std::mt19937_64 random(seed);
  const Cfg cfg(*p, before);
  for (int walk = 0; walk < 12; ++walk) {
    TokenWalk old(notes, before), now(notes, after);
    uint64_t met = 0;
    for (const BlockId b : randomPath(cfg, random, 24))
      for (InstrId id = cfg[b].first;; id = before[id].next) {
        ++met;
        const auto was = before.operandsOf(before[id]), is = after.operandsOf(after[id]);
        const bool compares = before[id].isInstruction() && !notes.statements[id.value].isMove;
        for (std::size_t k = 0; compares && k < was.size(); ++k)
          if (was[k].isRegister() && was[k].reads() && !TokenWalk::isUndefined(old[was[k].reg()]) &&
              old[was[k].reg()] != now[is[k].reg()])
            return fmt::format("statement {}, operand {}", id.value, k);
        old.step(id, met);
        now.step(id, met);
        if (id == cfg[b].last) break;
      }
  }
  return {};
}

bool runPass(const Parsed& p, Function& f, const Knobs& knobs, PassReport& report, const char* pass) {
  Analyses analyses(*p, f, livenessLimits(knobs));
  PassContext context{*p, knobs, analyses, moduleFacts(*p, knobs), report};
  return findPass(pass)->run(f, context);
}

// What a name in the printed text means where it stands; empty: what it should.
std::string misnamed(const Parsed& p, const Function& f) {
  const Parsed again(text::print(*p));
  const Function& g = again.function(1);
  std::map<uint32_t, uint32_t> there, back;
  InstrId id = f.first, other = g.first;
  const auto skip = [](const Function& h, InstrId& at) {
    while (at.valid() && !h[at].isInstruction()) at = h[at].next;
  };
  for (skip(f, id), skip(g, other); id.valid() && other.valid();
       id = f[id].next, other = g[other].next, skip(f, id), skip(g, other)) {
    const auto a = f.operandsOf(f[id]), b = g.operandsOf(g[other]);
    if (a.size() != b.size()) return fmt::format("instruction {} has other operands", id.value);
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (!a[k].isRegister()) continue;
      if (there.try_emplace(a[k].payload, b[k].payload).first->second != b[k].payload ||
          back.try_emplace(b[k].payload, a[k].payload).first->second != a[k].payload)
        return fmt::format("statement {}, operand {}", id.value, k);
    }
  }
  return id.valid() || other.valid() ? "there are more or fewer instructions" : "";
}

// A random function with the values of all its registers, and its copies.
struct AllValues {
  RandomFunction notes;
  Parsed p;
  const Function& f;
  Cfg cfg;
  SlotIndexes slots;
  LiveIntervals intervals;
  std::vector<Copy> copies;
  std::vector<RegId> all;
  CopyValues values;

  AllValues(uint64_t seed, bool takesGuarded)
      : notes(seed, options(seed)),
        p(notes.text),
        f(p.function(1)),
        cfg(*p, f),
        slots(f, cfg),
        intervals(f, cfg, slots),
        copies(copiesOf(*p, f, takesGuarded)),
        all(registersOf(f)),
        values(f, cfg, slots, intervals, all, copies) {}

 private:
  static std::vector<Copy> copiesOf(const Module& module, const Function& f, bool takesGuarded) {
    std::vector<Copy> copies;
    for (const InstrId id : f)
      if (const auto c = readCopy(module, f, id); c && (takesGuarded || !c->isGuarded)) copies.push_back(*c);
    return copies;
  }
  static std::vector<RegId> registersOf(const Function& f) {
    std::vector<RegId> all;
    for (uint32_t r = 1; r < f.registers.size(); ++r) all.emplace_back(r);
    return all;
  }
};

std::size_t copiesIn(const Parsed& p, const Function& f) {
  std::size_t n = 0;
  for (const InstrId id : f) n += readCopy(*p, f, id).has_value();
  return n;
}

}  // namespace

TEST_CASE("register-coalescer: nothing that a walk reads changes, and the check agrees" *
          doctest::test_suite("slow")) {
  std::size_t before = 0, left = 0;
  for (uint64_t seed = 0; seed < sampled(6000); ++seed) {
    const RandomFunction notes(seed, options(seed));
    const Parsed p(notes.text);
    Function& f = p.function(1);
    const Function old = f;
    before += copiesIn(p, f);
    Knobs knobs;
    REQUIRE(knobs.set("join-liveintervals", seed % 5 != 0) == "");
    PassReport report;
    runPass(p, f, knobs, report, "register-coalescer");
    left += copiesIn(p, f);
    CAPTURE(seed);
    INFO(notes.text);
    REQUIRE(verify(*p, f) == "");
    REQUIRE(difference(notes, p, old, f, seed) == "");
    REQUIRE(checkCoalescing(*p, old, f) == "");
    REQUIRE(misnamed(p, f) == "");
  }
  MESSAGE(before << " copies, " << left << " left");
  CHECK(left < before * 3 / 4);
}

// A function that is wrong before the pass is told of each pass that checks.
TEST_CASE("verify-coalescing: every coalescing pass checks") {
  for (const char* pass : {"cssa-coalesce", "register-coalescer", "cross-type-coalescer"}) {
    CAPTURE(pass);
    const Parsed p(kernel("@%p1 mov.u32 %r1, %r2;\nadd.u32 %r3, %r1, 1;\nst.global.u32 [%rd1], %r3;\n"));
    Function& f = p.function();
    for (const InstrId id : f)
      if (f[id].isInstruction() && f[id].is(Instruction::Guarded)) f.operandsOf(f[id])[1].role = Role::Def;
    Knobs knobs;
    knobs.set("verify-coalescing", 1);
    Analyses analyses(*p, f, livenessLimits(knobs));
    PassReport report;
    PassContext context{*p, knobs, analyses, moduleFacts(*p, knobs), report};
    findPass(pass)->run(f, context);
    CHECK(context.error.find("before the pass") != std::string::npos);
  }
}

// Wrong output, made by changing right output: whenever a walk sees the difference, the check does.
TEST_CASE("verify-coalescing: finds what is wrong" * doctest::test_suite("slow")) {
  std::size_t wrong = 0, found = 0;
  for (uint64_t seed = 0; seed < sampled(10000); ++seed) {
    const RandomFunction notes(seed, options(seed));
    const Parsed p(notes.text);
    Function& f = p.function(1);
    const Function old = f;
    if (seed % 2 == 0) {
      PassReport report;
      runPass(p, f, Knobs(), report, "register-coalescer");
    }
    std::mt19937_64 random(seed);
    std::vector<InstrId> left;
    for (const InstrId id : f)
      if (f[id].isInstruction() && f[id].operandCount != 0) left.push_back(id);
    if (left.empty()) continue;
    const InstrId id = left[random() % left.size()];
    const auto operands = f.operandsOf(f[id]);
    Operand& o = operands[random() % operands.size()];
    if (readCopy(*p, f, id) && random() % 2 == 0) {
      f.erase(id);
    } else if (o.isRegister() && !o.is(Operand::Implicit)) {
      // Another register of the same type.
      std::vector<uint32_t> like;
      for (uint32_t r = 1; r < f.registers.size(); ++r)
        if (r != o.payload && f.registers[r].type == f.registers[o.payload].type &&
            f.registers[r].lanes == f.registers[o.payload].lanes)
          like.push_back(r);
      if (like.empty()) continue;
      o.payload = like[random() % like.size()];
    } else {
      continue;
    }
    const bool isWrong = difference(notes, p, old, f, seed) != "";
    const bool isFound = checkCoalescing(*p, old, f) != "";
    wrong += isWrong;
    found += isFound;
    CAPTURE(seed);
    CAPTURE(id.value);
    INFO(notes.text);
    REQUIRE((isFound || !isWrong));
  }
  MESSAGE(wrong << " seen on a walk, " << found << " found");
  CHECK(wrong > sampled(1500));
}

TEST_CASE("CopyValues: what has one root is one value on every walk" * doctest::test_suite("slow")) {
  std::size_t same = 0;
  for (uint64_t seed = 0; seed < sampled(4000); ++seed) {
    const AllValues a(seed, true);
    const Function& f = a.f;
    std::mt19937_64 random(seed);
    CAPTURE(seed);
    INFO(a.notes.text);
    for (int walk = 0; walk < 6; ++walk) {
      TokenWalk now(a.notes, f);
      uint64_t met = 0;
      for (const BlockId b : randomPath(a.cfg, random, 16))
        for (InstrId id = a.cfg[b].first;; id = f[id].next) {
          if (f[id].isInstruction()) {
            std::map<CopyValues::Number, RegId> holder;
            for (const RegId r : a.all) {
              const ValueId v = a.intervals[r].valueIn(a.slots[id]);
              if (!v.valid()) continue;
              const auto [at, isNew] = holder.try_emplace(a.values.root(a.values.number(r, v)), r);
              same += !isNew;
              REQUIRE(now[r] == now[at->second]);
            }
          }
          now.step(id, ++met);
          if (id == a.cfg[b].last) break;
        }
    }
  }
  CHECK(same > sampled(10000));
}

// The coarsest partition in which copies agree with their sources and phis with all sides: beginning with every phi
// as good as its sides, one that does not agree is made a root, and all begins anew.
TEST_CASE("CopyValues: as many values have one root as can") {
  std::size_t roots = 0, values = 0;
  for (uint64_t seed = 0; seed < sampled(1500); ++seed) {
    const AllValues a(seed, false);
    const CopyValues& is = a.values;

    // By value: what it must agree with; nothing for what is a value of its own.
    const auto n = static_cast<CopyValues::Number>(is.size());
    std::vector<std::vector<CopyValues::Number>> sides(n);
    for (CopyValues::Number v = 0; v < n; ++v)
      if (is[v].kind == ValueKind::Phi) sides[v].assign(is.sources(v).begin(), is.sources(v).end());
    for (const Copy& c : a.copies) {
      if (!a.cfg[a.cfg.blockOf(c.instruction)].reachable) continue;
      const SlotIndex at = a.slots[c.instruction];
      sides[is.number(c.to, a.intervals[c.to].valueOut(at))] = {is.number(c.from, a.intervals[c.from].valueIn(at))};
    }
    std::vector<bool> isRoot(n);
    for (CopyValues::Number v = 0; v < n; ++v) isRoot[v] = sides[v].empty();
    std::vector<CopyValues::Number> label;
    for (bool again = true; again;) {
      again = false;
      label.assign(n, n);
      for (CopyValues::Number v = 0; v < n; ++v)
        if (isRoot[v]) label[v] = v;
      for (bool changed = true; changed;) {
        changed = false;
        for (CopyValues::Number v = 0; v < n; ++v)
          for (const auto s : sides[v])
            if (label[v] == n && label[s] != n) label[v] = label[s], changed = true;
      }
      for (CopyValues::Number v = 0; v < n && !again; ++v)
        for (const auto s : sides[v])
          if (!isRoot[v] && label[s] != label[v]) isRoot[v] = again = true;
    }
    CAPTURE(seed);
    INFO(a.notes.text);
    values += n;
    std::map<CopyValues::Number, CopyValues::Number> theirs, ours;
    for (CopyValues::Number v = 0; v < n; ++v) {
      REQUIRE(theirs.try_emplace(is.root(v), label[v]).first->second == label[v]);
      REQUIRE(ours.try_emplace(label[v], is.root(v)).first->second == is.root(v));
    }
    roots += theirs.size();
  }
  MESSAGE(values << " values, " << roots << " roots");
  CHECK(roots < values);
}

TEST_CASE("CopyValues: a value carried around an inner loop is that of the outer one") {
  const Parsed p(
      kernel("mov.u32 %r1, %tid.x;\n$O:\nmov.u32 %r2, %r1;\n$I:\nmov.u32 %r3, %r2;\nst.global.u32 [%rd1], %r3;\n"
             "mov.u32 %r2, %r3;\nsetp.lt.u32 %p1, %r1, %r3;\n@%p1 bra $I;\nadd.s32 %r1, %r1, 1;\nbra $O;\n"));
  Function& f = p.function();
  PassReport report;
  runPass(p, f, Knobs(), report, "register-coalescer");
  CHECK(copiesIn(p, f) == 0);
}
