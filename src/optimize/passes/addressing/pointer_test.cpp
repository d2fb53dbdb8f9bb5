// Pointers are tried in order, early places before late ones, each with its distance ahead of the header. The limit is
// computed before the loop from the trip count, and the comparison becomes one of inequality.
#include "passes/addressing/pointer_test.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "passes/addressing/address_costs.h"
#include "passes/util/insertion_places.h"

namespace ptxopt {
namespace {

// Instructions around a loop that threads leave by a test that is not uniform, for ptxas to let them meet again.
constexpr unsigned kReconverge = 2;

// Finds the pointer that a test may read.
class PointerTestFinder {
 public:
  PointerTestFinder(FormulaTerms& t, const LoopUses& uses, const ExitTest& test, ExprId trip)
      : t_(t),
        uses_(uses),
        test_(test),
        trip_(trip),
        evolution_(t.context.analyses.scalarEvolution()),
        e_(evolution_.expressions()) {}

  // How the test reads the pointer, before it advances or after that; none where it cannot.
  std::optional<PointerTest> read(const InductionVariable& iv, bool isEarly) {
    if (e_[iv.expr].width != 64 || !e_.isConstant(e_[iv.expr].step())) return std::nullopt;
    PointerTest p;
    p.test = test_;
    p.pointer = iv.reg;
    p.start = e_[iv.expr].start();
    p.step = signedAt(e_[e_[iv.expr].step()].constant, 64);
    if (p.step == 0 || !fitsSigned32(p.step) || !fitsSigned32(-p.step)) return std::nullopt;
    if (isEarly) p.place = incrementBefore(iv);
    if ((isEarly && !p.place.valid()) || !findAhead(iv, isEarly ? p.place : test_.test, p)) return std::nullopt;
    const bool isShort = hasShortTrip();
    if (!isShort && !accessesEachIteration(iv)) return std::nullopt;
    isShort ? countIterations(p) : countBytes(p);
    const ExprId length = p.iterations.valid() ? p.iterations : p.distance;
    const unsigned start = t_.expander.cost(p.start, t_.preheader), rest = t_.expander.cost(length, t_.preheader);
    if (start == Expander::kImpossible || rest == Expander::kImpossible) return std::nullopt;
    const auto add = static_cast<unsigned>(t_.context.costs().add64);
    p.setup = start + rest + 1 + (p.ahead != 0 ? add : 0) + (p.step < 0 ? 1 : 0);
    return p;
  }

  // What writes the value that the test would read, in the test's block, if the test can stand before it.
  InstrId incrementBefore(const InductionVariable& iv) {
    const SlotIndexes& slots = t_.context.analyses.slotIndexes();
    const LiveRange& range = t_.context.analyses.liveIntervals()[iv.reg];
    const ValueId v = range.valueIn(slots[test_.test]);
    if (!v.valid() || range[v].kind != ValueKind::Instruction || t_.f[test_.test].is(Instruction::Guarded))
      return {};
    const InstrId increment = slots.instructionAt(range[v].def);
    if (!increment.valid() || t_.context.analyses.cfg().blockOf(increment) != test_.block) return {};
    const RegId predicate = t_.f.operandsOf(t_.f[test_.test])[0].reg();
    if (!t_.expander.canBeNamed(predicate, placeBefore(t_.context.module, t_.f, increment))) return {};
    for (InstrId i = increment; i != test_.test; i = t_.f[i].next)
      if (std::ranges::any_of(t_.f.operandsOf(t_.f[i]),
                              [&](const Operand& o) { return o.isRegister() && o.reg() == predicate; }))
        return {};
    return increment;
  }

 private:
  // How far the register is ahead of its value at the header when a test before `place` reads it.
  bool findAhead(const InductionVariable& iv, InstrId place, PointerTest& p) {
    const SlotIndexes& slots = t_.context.analyses.slotIndexes();
    const ValueId v = t_.context.analyses.liveIntervals()[iv.reg].valueIn(slots[place]);
    const ExprId now = v.valid() ? evolution_.of(iv.reg, v) : ExprId();
    uint64_t ahead = 0;
    if (!now.valid() || !e_.isRecurrence(now, t_.loop) || e_[now].step() != e_[iv.expr].step() ||
        !e_.differByConstant(e_[now].start(), p.start, ahead) ||
        !t_.expander.canBeNamed(iv.reg, placeBefore(t_.context.module, t_.f, place)))
      return false;
    p.ahead = signedAt(ahead, 64);
    return fitsSigned32(p.ahead);
  }

  bool hasShortTrip() const {
    const TripCount& trip = evolution_.tripCount(t_.loop);
    return e_[trip_].width == 32 || (trip.most && *trip.most < UINT32_MAX);
  }

  // Whether each iteration of the loop, which only the test ends, reads or writes global memory through the pointer.
  bool accessesEachIteration(const InductionVariable& iv) {
    const Cfg& cfg = t_.context.analyses.cfg();
    const Loops& loops = t_.context.analyses.loops();
    const DominatorTree& dominators = t_.context.analyses.dominators();
    if (e_[trip_].width != 64 || loops.exits(cfg, t_.loop).size() != 1) return false;
    const std::vector<BlockId> latches = loops.latches(cfg, t_.loop);
    const auto isEachIteration = [&](const AddressUse& u) {
      const OpcodeForm& form = t_.context.module.form(t_.f[u.instruction]);
      return (form.op == Op::Ld || form.op == Op::St) && !t_.f[u.instruction].is(Instruction::Guarded) &&
             std::ranges::all_of(latches,
                                 [&](BlockId b) { return dominators.dominates(cfg.blockOf(u.instruction), b); });
    };
    return std::ranges::any_of(uses_.groups, [&](const UseGroup& g) {
      uint64_t difference = 0;
      return g.space == MemorySpace::Global && g.width == 64 && g.step == e_[iv.expr].step() &&
             e_.differByConstant(g.start, e_[iv.expr].start(), difference) &&
             std::ranges::any_of(g.uses, isEachIteration);
    });
  }

  // For a 32-bit number, wherever the loop runs.
  bool isNeverZero(ExprId e) {
    if (!evolution_.range(e).contains(0)) return true;
    const Expr n = e_[e];
    if (n.kind != ExprKind::Value) return false;
    ValueRanges& ranges = t_.context.analyses.valueRanges();
    const BlockId header = t_.context.analyses.loops()[t_.loop].header;
    return std::ranges::any_of(std::array{t_.preheader.block, header},
                               [&](BlockId b) { return !ranges.at(n.reg(), n.value(), b).contains(0); });
  }

  void countIterations(PointerTest& p) {
    p.iterations = e_.truncate(trip_, 32);
    // One step ahead: an iteration more, if that is still a number of 32 bits.
    const ExprId more = e_.addConstant(p.iterations, 1);
    if (p.ahead == p.step && isNeverZero(more)) {
      p.iterations = more;
      p.ahead = 0;
    }
  }

  void countBytes(PointerTest& p) {
    p.distance = e_.addConstant(e_.scale(trip_, static_cast<uint64_t>(p.step)), static_cast<uint64_t>(p.ahead));
    p.ahead = 0;
  }

  FormulaTerms& t_;
  const LoopUses& uses_;
  const ExitTest& test_;
  const ExprId trip_;
  ScalarEvolution& evolution_;
  ScevExpressions& e_;
};

}  // namespace

std::optional<PointerTest> findPointerTest(FormulaTerms& t, LoopCost& cost, const LoopUses& uses,
                                           std::vector<uint32_t> replaced,
                                           const std::function<bool(ExprId)>& isUniform) {
  ScalarEvolution& evolution = t.context.analyses.scalarEvolution();
  const TripCount& trip = evolution.tripCount(t.loop);
  const auto tests = evolution.exitTests(t.loop);
  const ScevExpressions& e = evolution.expressions();
  if (!trip.exact.valid() || tests.size() != 1 || e[trip.exact].width < 32) return std::nullopt;
  const auto isPointer = [&](const InductionVariable& iv) {
    return e[iv.expr].width == 64 && e.isConstant(e[iv.expr].step());
  };
  if (std::ranges::none_of(uses.ivs, isPointer)) return std::nullopt;
  const ExitTest test = tests[0];
  const Instruction& i = t.f[test.test];
  const auto operands = t.f.operandsOf(i);
  const uint32_t at = test.swapped ? 2 : 1;
  if (operands.size() != 3 || !operands[at].isRegister()) return std::nullopt;
  const uint32_t tested = i.firstOperand + at;
  const double now = info(t.context.module.form(i).type).bits == 64 ? t.context.costs().compare64 : 1;
  const double before = cost.needed(replaced);
  replaced.push_back(tested);
  const double gain = before - cost.needed(replaced) + now - t.context.costs().compare64;
  if (gain <= 0) return std::nullopt;
  PointerTestFinder finder(t, uses, test, trip.exact);
  const bool stepsByRegister = std::ranges::any_of(uses.ivs, [&](const InductionVariable& iv) {
    return e[iv.expr].width == 64 && !e.isConstant(e[iv.expr].step()) && cost.isNeeded(iv.reg, iv.phi);
  });
  const auto worth = [&](std::optional<PointerTest> p) {
    if (p && isUniform(trip.exact) && !isUniform(p->start)) p->setup += kReconverge;
    return p && gain * kIterations >= p->setup ? p : std::nullopt;
  };
  std::optional<PointerTest> best;
  for (const InductionVariable& iv : uses.ivs) {
    if (!cost.isNeeded(iv.reg, iv.phi) || (stepsByRegister && isUniform(e[iv.expr].start()))) continue;
    auto p = worth(finder.read(iv, true));
    // Where a sum of 64 bits is one instruction, what a late test saves is less than the wait between it and the branch.
    if (!p && !(t.steps.addsWhole() && finder.incrementBefore(iv).valid())) p = worth(finder.read(iv, false));
    // ptxas makes the halves of the limit one by one in uniform registers, and moves them in each iteration.
    if (p && t.steps.addsWhole() && p->distance.valid() && isUniform(p->start)) continue;
    if (p && (!best || p->setup < best->setup)) best = p;
  }
  if (!best) return std::nullopt;
  best->tested = tested;
  best->gain = gain;
  return best;
}

void applyPointerTest(Function& f, PassContext& context, Expander& expander, const PointerTest& p,
                      const ExpansionPlace& preheader) {
  const InstrId place = preheader.before;
  const RegId start = expander.emit(p.start, preheader);
  RegId limit;
  if (p.iterations.valid()) {
    const RegId distance =
        expander.multiplyWide(expander.emit(p.iterations, preheader), std::abs(p.step), false, place);
    limit = p.step > 0 ? expander.add(start, distance, 64, place) : expander.subtract(start, distance, place);
  } else {
    limit = expander.add(start, expander.emit(p.distance, preheader), 64, place);
  }
  if (p.ahead != 0) limit = expander.addImmediate(limit, p.ahead, 64, place);
  Instruction& i = f[p.test.test];
  const Operand predicate = f.operandsOf(i)[0];
  i.payload = context.module.synthOpcode(p.test.trueGoesOn ? SynthOpcode::SetpNeS64 : SynthOpcode::SetpEqS64).value;
  const Operand operands[] = {predicate, useOperand(p.pointer), useOperand(limit)};
  f.setOperands(p.test.test, operands);
  if (p.place.valid()) f.moveBefore(p.test.test, p.place);
}

}  // namespace ptxopt
