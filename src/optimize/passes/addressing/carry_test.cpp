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

// Whether an instruction that stays needs the counter, too: nothing falls away with the test. What is computed from the
// counter is followed once through the loop, in registers that are written once.
bool isNeededOtherwise(const FormulaTerms& t, const ExitTest& test, uint32_t tested) {
  const Cfg& cfg = t.context.analyses.cfg();
  const Loops& loops = t.context.analyses.loops();
  const SlotIndexes& slots = t.context.analyses.slotIndexes();
  const LiveIntervals& intervals = t.context.analyses.liveIntervals();
  const RegId counter = t.f.operands[tested].reg();
  const LiveRange& range = intervals[counter];
  const ValueId now = range.valueIn(slots[test.test]);
  if (!now.valid()) return false;
  const BlockId header = loops[t.loop].header;
  const ValueId next = range.valueAt(slots.start(header));
  const bool comesAround =
      next.valid() && range[next].kind == ValueKind::Phi && slots.blockAt(range[next].def) == header &&
      std::ranges::any_of(loops.latches(cfg, t.loop),
                          [&](BlockId latch) { return range.valueAt(slots.last(latch)) == now; });
  BitVector derived(t.f.registers.size());
  const auto isRead = [&](const Operand& o, InstrId at) {
    if (&o == &t.f.operands[tested] || !o.isRegister() || !o.reads()) return false;
    if (o.reg() != counter) return derived.test(o.payload);
    const ValueId read = range.valueIn(slots[at]);
    return read == now || (comesAround && read == next);
  };
  for (const BlockId b : loops.blocks(t.loop)) {
    if (!cfg[b].reachable) continue;
    for (const InstrId id : slots.instructions(b)) {
      const auto operands = t.f.operandsOf(t.f[id]);
      if (std::ranges::none_of(operands, [&](const Operand& o) { return isRead(o, id); })) continue;
      if (!isRemovable(t.context.module, t.f, t.f[id])) return true;
      for (const Operand& o : operands)
        if (o.isRegister() && o.writes() && o.reg() != counter && intervals[o.reg()].values().size() == 1)
          derived.set(o.payload);
    }
  }
  return false;
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
  c.gain = now - (isShort ? costs.carryTest32 : costs.carryTest64);
  if (c.gain <= 0 && replaced.empty() && isNeededOtherwise(t, c.test, c.tested)) return std::nullopt;
  c.gain += cost.needed(replaced);
  replaced.push_back(c.tested);
  c.gain -= cost.needed(replaced);
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
