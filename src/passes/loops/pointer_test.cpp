#include "passes/loops/pointer_test.h"

#include <cstdlib>

#include "passes/util/insertion_places.h"
#include "passes/util/machine_prices.h"

namespace ptxopt {
namespace {

// How the test reads the pointer; none where it cannot.
std::optional<PointerTest> readByTest(FormulaTerms& t, const ExitTest& test, ExprId trip, const InductionVariable& iv) {
  ScalarEvolution& evolution = t.context.analyses.scalarEvolution();
  ScevExpressions& e = evolution.expressions();
  if (e[iv.expr].width != 64 || !e.isConstant(e[iv.expr].step())) return std::nullopt;
  PointerTest p;
  p.test = test;
  p.pointer = iv.reg;
  p.start = e[iv.expr].start();
  p.step = signedAt(e[e[iv.expr].step()].constant, 64);
  if (p.step == 0 || !fitsSigned32(p.step) || !fitsSigned32(-p.step)) return std::nullopt;
  const ValueId v = t.context.analyses.liveIntervals()[iv.reg].valueIn(t.context.analyses.slotIndexes()[test.test]);
  const ExprId now = v.valid() ? evolution.of(iv.reg, v) : ExprId();
  uint64_t ahead = 0;
  if (!now.valid() || !e.isRecurrence(now, t.loop) || e[now].step() != e[iv.expr].step() ||
      !e.differByConstant(e[now].start(), p.start, ahead) ||
      !t.expander.canBeNamed(iv.reg, placeBefore(t.context.module, t.f, test.test)))
    return std::nullopt;
  p.ahead = signedAt(ahead, 64);
  if (!fitsSigned32(p.ahead)) return std::nullopt;
  p.rounds = e.truncate(trip, 32);
  // One step ahead: a round more, if that is still a number of 32 bits.
  const ExprId more = e.addConstant(p.rounds, 1);
  uint64_t one = 0;
  if (p.ahead == p.step &&
      e.differByConstant(evolution.zeroExtend(more, 64), evolution.zeroExtend(p.rounds, 64), one) && one == 1) {
    p.rounds = more;
    p.ahead = 0;
  }
  const unsigned start = t.expander.price(p.start, t.preheader), rounds = t.expander.price(p.rounds, t.preheader);
  if (start == Expander::kImpossible || rounds == Expander::kImpossible) return std::nullopt;
  const auto add = static_cast<unsigned>(t.context.prices().add64);
  p.setup = start + rounds + 1 + (p.ahead != 0 ? add : 0) + (p.step < 0 ? 1 : 0);
  return p;
}

}  // namespace

std::optional<PointerTest> findPointerTest(FormulaTerms& t, LoopCost& cost, std::span<const InductionVariable> ivs,
                                           std::unordered_set<uint32_t> replaced) {
  ScalarEvolution& evolution = t.context.analyses.scalarEvolution();
  const ScevExpressions& e = evolution.expressions();
  const TripCount& trip = evolution.tripCount(t.loop);
  const auto tests = evolution.exitTests(t.loop);
  if (!trip.exact.valid() || tests.size() != 1 || e[trip.exact].width < 32) return std::nullopt;
  if (e[trip.exact].width > 32 && (!trip.most || *trip.most >= UINT32_MAX)) return std::nullopt;
  const ExitTest test = tests[0];
  const Instruction& i = t.f[test.test];
  const auto operands = t.f.operandsOf(i);
  const uint32_t at = test.swapped ? 2 : 1;
  if (operands.size() != 3 || !operands[at].isRegister()) return std::nullopt;
  const uint32_t tested = i.firstOperand + at;
  const double now = info(t.context.module.form(i).type).bits == 64 ? t.context.prices().compare64 : 1;
  const double before = cost.needed(replaced);
  replaced.insert(tested);
  const double gain = before - cost.needed(replaced) + now - t.context.prices().compare64;
  if (gain <= 0) return std::nullopt;
  std::optional<PointerTest> best;
  for (const InductionVariable& iv : ivs) {
    if (!cost.isNeeded(iv.reg, iv.phi)) continue;
    const auto p = readByTest(t, test, trip.exact, iv);
    if (p && (!best || p->setup < best->setup)) best = p;
  }
  if (!best || gain * kRounds < best->setup) return std::nullopt;
  best->tested = tested;
  return best;
}

void applyPointerTest(Function& f, PassContext& context, Expander& expander, const PointerTest& p,
                      const ExpansionPlace& preheader) {
  const InstrId place = preheader.before;
  const RegId start = expander.emit(p.start, preheader);
  const RegId distance = expander.multiplyWide(expander.emit(p.rounds, preheader), std::abs(p.step), false, place);
  RegId limit = p.step > 0 ? expander.add(start, distance, 64, place) : expander.subtract(start, distance, place);
  if (p.ahead != 0) limit = expander.addImmediate(limit, p.ahead, 64, place);
  Instruction& i = f[p.test.test];
  const Operand predicate = f.operandsOf(i)[0];
  i.payload =
      context.module.synthOpcode(p.test.trueGoesOn ? SynthOpcode::SetpNeS64 : SynthOpcode::SetpEqS64).value;
  const Operand operands[] = {predicate, registerOperand(p.pointer, Role::Use, Join::Comma),
                              registerOperand(limit, Role::Use, Join::Comma)};
  f.setOperands(p.test.test, operands);
}

}  // namespace ptxopt
