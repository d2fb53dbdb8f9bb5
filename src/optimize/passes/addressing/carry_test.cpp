// The test is found by comparing the loop's cost with and without what it reads. Applying it makes the counter before
// the loop; the step then sets the carry, and the test compares the carry with 0.
#include "passes/addressing/carry_test.h"

#include <algorithm>

#include "passes/addressing/address_costs.h"
#include "passes/addressing/early_steps.h"
#include "passes/util/insertion_places.h"

namespace ptxopt {

bool usesCarry(const Function& f) {
  for (const InstrId id : f)
    if (std::ranges::any_of(f.operandsOf(f[id]),
                            [](const Operand& o) { return o.isRegister() && o.reg() == Function::kCarry; }))
      return true;
  return false;
}

namespace {

// Whether this PTX has add.cc of 64 bits.
bool hasWideCarry(const Module& module) {
  return module.versionMajor > 4 || (module.versionMajor == 4 && module.versionMinor >= 3);
}

}  // namespace

std::optional<CarryTest> findCarryTest(FormulaTerms& t, LoopCost& cost, std::vector<uint32_t> replaced) {
  ScalarEvolution& evolution = t.context.analyses.scalarEvolution();
  ScevExpressions& e = evolution.expressions();
  const TripCount& trip = evolution.tripCount(t.loop);
  const auto tests = evolution.exitTests(t.loop);
  if (!trip.exact.valid() || tests.size() != 1 || e[trip.exact].width < 32) return std::nullopt;
  CarryTest c;
  c.test = tests[0];
  const Instruction& i = t.f[c.test.test];
  const auto operands = t.f.operandsOf(i);
  const uint32_t at = c.test.swapped ? 2 : 1;
  if (operands.size() != 3 || !operands[at].isRegister()) return std::nullopt;
  c.tested = i.firstOperand + at;
  const bool isShort = e[trip.exact].width == 32 || (trip.most && *trip.most <= UINT32_MAX);
  if (!isShort && !hasWideCarry(t.context.module)) return std::nullopt;
  c.iterations = isShort ? e.truncate(trip.exact, 32) : trip.exact;
  const target::Costs& costs = t.context.costs();
  const double now = info(t.context.module.form(i).type).bits == 64 ? costs.compare64 : 1;
  const double before = cost.needed(replaced);
  replaced.push_back(c.tested);
  c.gain = before - cost.needed(replaced) + now - (isShort ? costs.carryTest32 : costs.carryTest64);
  if (c.gain <= 0) return std::nullopt;
  c.setup = t.expander.cost(c.iterations, t.preheader);
  if (c.setup == Expander::kImpossible || c.gain * kIterations < c.setup) return std::nullopt;
  return c;
}

void applyCarryTest(Function& f, PassContext& context, Expander& expander, const CarryTest& c,
                    const ExpansionPlace& preheader) {
  const bool isWide = context.analyses.scalarEvolution().expressions()[c.iterations].width == 64;
  const RegId counter = f.makeRegister(isWide ? ScalarType::b64 : ScalarType::b32, 1, NameHint::Counter);
  const RegId carry = f.makeRegister(ScalarType::b32);
  expander.copyTo(counter, expander.emit(c.iterations, preheader), preheader.before);
  const auto flag = [](Role role) {
    return registerOperand(Function::kCarry, role, Join::None, Operand::Implicit);
  };
  moveTestUp(context.module, f, c.test.test);
  const InstrId place = placeBefore(context.module, f, c.test.test);
  expander.instruction(isWide ? SynthOpcode::AddCcU64 : SynthOpcode::AddCcU32,
                       {defOperand(counter), useOperand(counter), integerOperand(-1), flag(Role::Def)}, place);
  expander.instruction(SynthOpcode::AddcU32,
                       {defOperand(carry), integerOperand(0), integerOperand(0), flag(Role::Use)}, place);
  Instruction& i = f[c.test.test];
  const Operand predicate = f.operandsOf(i)[0];
  i.payload = context.module.synthOpcode(c.test.trueGoesOn ? SynthOpcode::SetpNeS32 : SynthOpcode::SetpEqS32).value;
  const Operand operands[] = {predicate, useOperand(carry), integerOperand(0)};
  f.setOperands(c.test.test, operands);
}

}  // namespace ptxopt
