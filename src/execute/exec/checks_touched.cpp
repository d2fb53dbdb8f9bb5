// The operands are walked once. Definitions that are modifications only because of a guard or a component count as
// writes, and what an address or a guard reads counts as a read.
#include "exec/checks_touched.h"

#include <algorithm>

namespace ptxopt::exec {

namespace {

unsigned componentOf(std::string_view selector) {
  const std::size_t at = std::string_view("xyzw").find(selector);
  return static_cast<unsigned>(at != std::string_view::npos ? at : std::string_view("rgba").find(selector));
}

}  // namespace

Touched touchedBy(const Module& module, const Routine& routine, const Op& op) {
  const Function& f = *routine.function;
  const Instruction& i = f.instructions[op.instruction];
  Touched t;
  if (!i.isInstruction()) return t;  // the end of a function
  const OpcodeForm& form = module.form(i);
  // Ops without a handler's arguments are control flow, refusals, and what prepares the next op.
  if (op.kind == OpKind::Plain && op.args == nullptr) return t;
  if (op.kind == OpKind::Plain && form.is(effect::Call)) t.builtin = static_cast<const CallSite*>(op.data);
  t.calls = t.builtin != nullptr || op.kind == OpKind::Call;
  t.takesStack = op.kind == OpKind::Call || form.op == ptxopt::Op::Alloca;
  t.readsAtomically = (form.family == ptxopt::Op::Atom || form.family == ptxopt::Op::Red) &&
                      form.operation != CombineOperation::Exchange;

  const std::span<const Operand> operands = f.operandsOf(i);
  std::size_t index = 0, depth = 0;  // of the operand, counted from the left without the guard
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Operand& o = operands[k];
    if (o.is(Operand::Guard)) {
      if (o.isRegister()) t.guard.push_back({o.reg(), o.payload * kComponents, 1});
      continue;
    }
    if (depth > 0) {
      --depth;
    } else {
      if (o.join == Join::Comma) ++index;
      depth = o.inside();
    }
    if (!o.isRegister()) continue;
    RegisterUse use{o.reg(), o.payload * kComponents, f.registers[o.payload].lanes};
    if (use.count > 1 && k + 1 < operands.size() && operands[k + 1].kind == OperandKind::Selector) {
      const unsigned c = componentOf(module.text(NameId(operands[k + 1].payload)));
      use.first += std::min(c, kComponents - 1);
      use.count = 1;
    }
    bool isRead = o.reads();
    // A definition under a guard, or of one component, counts as a modification in the IR.
    if (o.role == Role::Mod)
      isRead =
          o.is(Operand::Implicit) ? form.is(effect::CarryIn) : !form.is(effect::Call) && form.role(index) == 'm';
    if (isRead) t.reads.push_back(use);
    if (o.writes()) t.writes.push_back(use);
  }
  return t;
}

}  // namespace ptxopt::exec
