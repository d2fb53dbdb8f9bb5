// A FormulaMaker adds formulas phase by phase and filters each by its immediates, its setup cost and whether the factor
// fits. Counters are made for constant starts and for summands of the groups' starts, four at most.
#include "passes/addressing/formulas.h"

#include <algorithm>
#include <cstdlib>

#include "passes/addressing/address_costs.h"
#include "passes/addressing/loop_cost.h"
#include "passes/util/insertion_places.h"

namespace ptxopt {
namespace {

constexpr int kMostSetup = 24;  // machine instructions before a loop, for one group

// step == factor * unit, without wrapping.
bool factorOf(int64_t step, int64_t unit, int64_t& factor) {
  if (unit == 0 || step == INT64_MIN || unit == INT64_MIN || step % unit != 0) return false;
  factor = step / unit;
  return factor != INT64_MIN && factor * unit == step;
}

// Whether the register of the index holds it, a constant number of steps further at most, and does not wrap, at
// each use.
bool canRead(ScalarEvolution& evolution, FormulaTerms& t, const UseGroup& group, const InductionVariable& iv,
             bool isSigned, int64_t scale) {
  ScevExpressions& e = evolution.expressions();
  const auto extend = [&](ExprId x) {
    return isSigned ? evolution.signExtend(x, 64) : evolution.zeroExtend(x, 64);
  };
  const LiveRange& range = t.context.analyses.liveIntervals()[iv.reg];
  const ExprId first = extend(iv.expr);
  ValueId good;
  for (const AddressUse& use : group.uses) {
    const ValueId v = range.valueIn(t.context.analyses.slotIndexes()[use.instruction]);
    if (!v.valid()) return false;
    if (v == good) continue;
    const ExprId now = evolution.of(iv.reg, v);
    if (!now.valid() || !e.isRecurrence(now, t.loop)) return false;
    const uint64_t ahead32 = e.constantPart(e.subtract(now, iv.expr));
    uint64_t ahead = 0;
    if (!e.differByConstant(extend(now), first, ahead) || ahead != static_cast<uint64_t>(signedAt(ahead32, 32)))
      return false;
    // It goes into the immediates.
    if (std::abs(signedAt(ahead32, 32) * scale) > kMostImmediate) return false;
    if (!t.expander.canBeNamed(iv.reg, placeBefore(t.context.module, t.f, use.instruction))) return false;
    good = v;
  }
  return true;
}

// Whether what stands at the ends of the latches runs once between two iterations: a latch that may go on inside the
// loop, or that is in a loop further in, runs more often.
bool stepsOnce(const FormulaTerms& t) {
  const Cfg& cfg = t.context.analyses.cfg();
  const Loops& loops = t.context.analyses.loops();
  return std::ranges::all_of(loops.latches(cfg, t.loop), [&](BlockId latch) {
    return loops.of(latch) == t.loop && std::ranges::all_of(cfg.successors(latch), [&](BlockId to) {
             return to == loops[t.loop].header || !loops.contains(t.loop, to);
           });
  });
}

// Whether a use stands after the test before which the counter is advanced, and finds it wrapped in the last
// iteration.
bool mayReadWrapped(ScalarEvolution& evolution, FormulaTerms& t, const UseGroup& group, const Counter& c,
                    bool isSigned) {
  if (!c.isAhead) return false;
  const Cfg& cfg = t.context.analyses.cfg();
  const SlotIndexes& slots = t.context.analyses.slotIndexes();
  const bool isBehind = std::ranges::any_of(group.uses, [&](const AddressUse& u) {
    return cfg.blockOf(u.instruction) == cfg.blockOf(c.test->test) && slots[u.instruction] > slots[c.test->test];
  });
  if (!isBehind) return false;
  ScevExpressions& e = evolution.expressions();
  const auto extend = [&](ExprId x) {
    return isSigned ? evolution.signExtend(x, 64) : evolution.zeroExtend(x, 64);
  };
  uint64_t ahead = 0;
  return !e.differByConstant(extend(e.addConstant(c.expr, 1)), extend(c.expr), ahead) || ahead != 1;
}

// The test that ends the loop, if it counts all iterations, can be one of the counter: the loop goes on while the
// iterations that were are not as many as the trip count says.
void takeOverTest(FormulaTerms& t, Counter& c) {
  ScalarEvolution& evolution = t.context.analyses.scalarEvolution();
  ScevExpressions& e = evolution.expressions();
  const TripCount& trip = evolution.tripCount(t.loop);
  const auto tests = evolution.exitTests(t.loop);
  if (!trip.exact.valid() || tests.size() != 1) return;
  if (e[trip.exact].width > 32 && (!trip.most || *trip.most >= UINT32_MAX)) return;
  if (e[trip.exact].width < 32) return;
  const Loops& loops = t.context.analyses.loops();
  const std::vector<BlockId> latches = loops.latches(t.context.analyses.cfg(), t.loop);
  const BlockId testBlock = t.context.analyses.cfg().blockOf(tests[0].test);
  // Before the test only where nothing after it in the iteration could read the counter: the latch is the test's
  // block, or a branch alone.
  const Cfg& cfg = t.context.analyses.cfg();
  const auto isBranchAlone = [&](BlockId b) {
    return t.context.analyses.slotIndexes().instructions(b).size() == 1 && cfg.predecessors(b).size() == 1 &&
           cfg.predecessors(b)[0] == testBlock;
  };
  c.isAhead = latches.size() == 1 && (testBlock == latches[0] || isBranchAlone(latches[0]));
  const Instruction& i = t.f[tests[0].test];
  const auto operands = t.f.operandsOf(i);
  const uint32_t at = tests[0].swapped ? 2 : 1;
  const ExprId last = e.add(c.start, e.truncate(trip.exact, 32));
  c.limit = c.isAhead ? e.addConstant(last, 1) : last;
  const unsigned cost = t.expander.cost(c.limit, t.preheader);
  if (cost == Expander::kImpossible || cost > 6 || operands.size() != 3 || !operands[at].isRegister()) {
    c.limit = ExprId();
    c.isAhead = false;
    return;
  }
  c.test = tests[0];
  c.tested = i.firstOperand + at;
  c.setup += cost;
}

}  // namespace

const AddressForm& addressForm(FormulaKind kind) {
  static constexpr AddressForm kForms[] = {
#define PTXOPT_ADDRESS_FORM(id, name, cost, waits, text) {name, &target::Costs::cost, Waits::waits},
#include "passes/addressing/forms.def"
  };
  return kForms[static_cast<std::size_t>(kind)];
}

namespace {

// Makes the formulas of one group, in the order of the phases (formulas.h).
class FormulaMaker {
 public:
  FormulaMaker(const UseGroup& group, FormulaTerms& t)
      : group_(group),
        t_(t),
        evolution_(t.context.analyses.scalarEvolution()),
        e_(evolution_.expressions()),
        costs_(costsOfForms(t.context)),
        isWide_(group.width == 64),
        isOutside_(group.least < -kMostImmediate || group.most > kMostImmediate),
        isFarApart_(static_cast<uint64_t>(group.most) - static_cast<uint64_t>(group.least) >
                    uint64_t{kMostImmediate}),
        canStep_(stepsOnce(t)) {}

  std::vector<Formula> make(std::span<const InductionVariable> ivs, std::span<const Counter> counters) {
    addPointers();
    // Each 32-bit counter whose step divides that of the group; the bounds of a counter go into the base.
    if (isWide_ && t_.extends && e_.isConstant(group_.step)) {
      for (const InductionVariable& iv : ivs) addIndex(iv);
      for (uint32_t c = 0; c < counters.size(); ++c) addCounter(counters[c], c);
    }
    return std::move(all_);
  }

 private:
  void become(Formula& f, FormulaKind kind) const {
    f.kind = kind;
    f.perIteration = costs_.*addressForm(kind).cost;
  }
  Formula of(FormulaKind kind) const {
    Formula f;
    become(f, kind);
    return f;
  }

  // A pointer for the group; the constant parts are left to the immediates.
  void addPointers() {
    Formula pointer = of(FormulaKind::Pointer);
    pointer.base = group_.start;
    pointer.registers = group_.width / 32;
    const bool isConstant = e_.isConstant(group_.step);
    if (isConstant) {
      if (!isWide_) pointer.perIteration = kRecurrence32;
      if (!t_.may64 && isWide_) pointer.bad = "64-bit";
      finish(pointer);
    }
    const auto product = isWide_ ? stepProduct(evolution_, group_.step, t_.loop) : std::nullopt;
    if (!product) return;
    if (!isConstant) return addStridePointer(pointer, *product);
    if (costs_.productStep64 < costs_.step64) addUnitPointer(pointer, *product);
  }

  void addUnitPointer(Formula pointer, const StepProduct& product) {
    become(pointer, FormulaKind::UnitPointer);
    pointer.product = product;
    pointer.setup = 1;
    finish(pointer);
  }

  void addStridePointer(Formula pointer, const StepProduct& product) {
    become(pointer, FormulaKind::StridePointer);
    pointer.product = product;
    const unsigned cost = t_.steps.cost(product, t_.preheader);
    if (cost == Expander::kImpossible || !t_.may64) {
      pointer.bad = t_.may64 ? "base-not-available" : "64-bit";
      all_.push_back(pointer);
    } else {
      pointer.setup = static_cast<int>(cost);
      finish(pointer);
    }
  }

  // An induction variable that there is.
  void addIndex(const InductionVariable& iv) {
    const Expr n = e_[iv.expr];
    if (n.width != 32 || !e_.isConstant(n.step())) return;
    Formula f = of(FormulaKind::Index);
    f.index = iv;
    if (!findScale(iv.expr, f)) return;
    f.isSigned = evolution_.whyNoWrap(iv.expr, true).has_value();
    if (!f.isSigned && (f.scale < 0 || !evolution_.whyNoWrap(iv.expr, false))) return;
    findBase(iv.expr, f);
    if (!canRead(evolution_, t_, group_, iv, f.isSigned, f.scale)) f.bad = "index-not-available";
    finish(f);
  }

  // A counter that may be made.
  void addCounter(const Counter& counter, uint32_t number) {
    Formula f = of(FormulaKind::Index);
    f.counter = number;
    if (!findScale(counter.expr, f)) return;
    f.isSigned = counter.isSigned;
    if (!f.isSigned && f.scale < 0) return;
    findBase(counter.expr, f);
    if (mayReadWrapped(evolution_, t_, group_, counter, f.isSigned)) f.bad = "index-not-available";
    finish(f);
  }

  bool findScale(ExprId index, Formula& f) const {
    return factorOf(signedAt(e_[group_.step].constant, 64), signedAt(e_[e_[index].step()].constant, 32), f.scale) &&
           fitsSigned32(f.scale);
  }

  void findBase(ExprId index, Formula& f) {
    const ExprId start = e_[index].start();
    const ExprId wide = f.isSigned ? evolution_.signExtend(start, 64) : evolution_.zeroExtend(start, 64);
    f.base = e_.subtract(group_.start, e_.scale(wide, static_cast<uint64_t>(f.scale)));
    const Expr base = e_[f.base];
    const bool isParameter =
        base.kind == ExprKind::Value && evolution_.constantDefinition(base.reg(), base.value()).valid();
    f.registers = isParameter ? 0 : 2;
    if (!t_.creditsExtensions) f.registers += 1;
    if (isParameter && f.base != group_.start) f.saved = kStartSaved;
  }

  // What it costs before the loop, and why it cannot be chosen.
  void finish(Formula f) {
    const bool isPointer = f.kind == FormulaKind::Pointer || f.kind == FormulaKind::UnitPointer ||
                           f.kind == FormulaKind::StridePointer;
    if (isOutside_ && (!isPointer || isFarApart_)) f.bad = "immediate";
    if (isPointer && !canStep_) f.bad = "latch";
    const unsigned cost = t_.expander.cost(f.base, t_.preheader);
    if (cost == Expander::kImpossible) {
      f.bad = "base-not-available";
    } else {
      f.setup += static_cast<int>(cost);
      if (t_.filters && f.setup - f.saved > kMostSetup) f.bad = "setup";
    }
    if (t_.filters && f.registers > t_.room && f.bad.empty()) f.bad = kNoRoom;
    all_.push_back(f);
  }

  const UseGroup& group_;
  FormulaTerms& t_;
  ScalarEvolution& evolution_;
  ScevExpressions& e_;
  const target::Costs costs_;
  bool isWide_;
  bool isOutside_;                       // the constant parts of some uses do not fit into immediates
  bool isFarApart_;                      // ... whatever the base is
  bool canStep_;                         // something may be advanced at the ends of the latches
  std::vector<Formula> all_{Formula()};  // Keep
};

}  // namespace

std::vector<Formula> makeFormulas(const UseGroup& group, std::span<const InductionVariable> ivs,
                                  std::span<const Counter> counters, FormulaTerms& t) {
  return FormulaMaker(group, t).make(ivs, counters);
}

namespace {

void addCounter(ExprId start, FormulaTerms& t, std::vector<Counter>& counters) {
  ScalarEvolution& evolution = t.context.analyses.scalarEvolution();
  ScevExpressions& e = evolution.expressions();
  if (std::ranges::any_of(counters, [&](const Counter& c) { return c.start == start; })) return;
  Counter c;
  c.start = start;
  c.expr = e.recurrence(t.loop, start, e.constant(1, 32));
  c.isSigned = evolution.whyNoWrap(c.expr, true).has_value();
  c.isUnsigned = evolution.whyNoWrap(c.expr, false).has_value();
  const unsigned startCost = t.expander.cost(start, t.preheader);
  if ((!c.isSigned && !c.isUnsigned) || startCost == Expander::kImpossible) return;
  c.setup = 1 + startCost;
  takeOverTest(t, c);
  counters.push_back(c);
}

}  // namespace

std::vector<Counter> makeCounters(std::span<const UseGroup> groups, FormulaTerms& t) {
  constexpr std::size_t kMostCounters = 4;
  ScevExpressions& e = t.context.analyses.scalarEvolution().expressions();
  std::vector<Counter> counters;
  if (!stepsOnce(t)) return counters;
  addCounter(e.constant(0, 32), t, counters);
  for (const UseGroup& g : groups) {
    const Expr n = e[g.start];
    if (g.width != 64 || !e.isConstant(g.step) || n.kind != ExprKind::Sum) continue;
    for (uint32_t k = 0; k < n.termCount && counters.size() < kMostCounters; ++k) {
      const ExprTerm term = e.terms(g.start)[k];
      const Expr x = e[term.expr];
      if ((x.kind == ExprKind::SignExtend || x.kind == ExprKind::ZeroExtend) && e[x.operand()].width == 32 &&
          term.factor == e[g.step].constant)
        addCounter(x.operand(), t, counters);
    }
  }
  return counters;
}

}  // namespace ptxopt
