// The tests that end loops: a part of ScalarEvolution, see scalar_evolution.h.
#include <algorithm>

#include "analysis/values/scalar_evolution.h"

namespace ptxopt {
// The tests that each iteration of the loop runs, of an integer recurrence with what does not vary in the loop.
void ScalarEvolution::findTests(LoopId l) {
  if (loops_[l].irreducible) return;
  const std::vector<BlockId> latches = loops_.latches(cfg_, l);
  for (const Loops::Exit& exit : loops_.exits(cfg_, l)) {
    if (!exit.to.valid() || loops_.of(exit.from) != l || cfg_.successors(exit.from).size() != 2) continue;
    if (!std::ranges::all_of(latches, [&](BlockId b) { return dominators_.dominates(exit.from, b); })) continue;
    const Instruction& branch = f_[cfg_[exit.from].last];
    if (!branch.isInstruction() || !branch.is(Instruction::Guarded) || !module_.form(branch).is(effect::Branch))
      continue;
    const auto operands = f_.operandsOf(branch);
    const Operand& guard = operands[0];
    LabelId target;
    for (const Operand& o : operands)
      if (o.kind == OperandKind::Label) target = LabelId(o.payload);
    if (!target.valid() || !guard.isRegister()) continue;
    const bool leavesWhenTaken = cfg_.blockOf(f_.labels[target.value].place) == exit.to;

    const InstrId branchId = cfg_[exit.from].last;
    const InstrId test = ranges_.definitionRead(guard.reg(), branchId);
    if (!test.valid() || loops_.of(cfg_.blockOf(test)) != l) continue;
    const OpcodeForm& form = module_.form(f_[test]);
    const auto sources = f_.operandsOf(f_[test]);
    const auto relation = relationOf(form.comparison);
    if (form.op != Op::Setp || !relation || !form.hasOnly(field::Comparison) || form.typeCount != 1) continue;
    // A .b16 register may be counted in integers and compared as .f16, which is of its class, too.
    if (!isIntegerOrBits(form.type) || sources.size() != 3 || !sources[0].isRegister()) continue;

    const unsigned width = info(form.type).bits;
    const auto get = [&](const Operand& o) -> ExprId {
      if (const auto bits = immediate(f_, o)) return e_.constant(*bits, width);
      return o.isRegister() && o.flags == 0 && widthOf(o.reg()) == width ? read(o.reg(), test) : ExprId();
    };
    ExitTest t;
    t.loop = l;
    t.block = exit.from;
    t.test = test;
    t.branch = branchId;
    t.tested = get(sources[1]);
    t.limit = get(sources[2]);
    t.comparison = *relation;
    t.isSigned = isSignedType(form.type);
    if (!t.tested.valid() || !t.limit.valid()) continue;
    if (e_.isRecurrence(t.limit, l)) {
      std::swap(t.tested, t.limit);
      t.comparison = swapped(t.comparison);
      t.swapped = true;
    }
    if (!e_.isRecurrence(t.tested, l) || !e_.isInvariant(t.limit, l)) continue;
    // The loop goes on while the branch does not leave it.
    const bool goesOnWhenTrue = leavesWhenTaken == guard.is(Operand::Not);
    t.trueGoesOn = goesOnWhenTrue;
    if (!goesOnWhenTrue) t.comparison = negated(t.comparison);
    tests_[l.value].push_back(t);
  }
}

}  // namespace ptxopt
