// Only unguarded additions of two summands count, each by its other summand: a parameter, found through copies, a
// uniform value, a recurrence of a loop that the product is outside of, or another register. All else that reads the
// product counts as other.
#include "passes/arithmetic/wide/product_uses.h"

#include "passes/addressing/address_opcodes.h"

namespace ptxopt {

bool ProductUses::isParameter(RegId reg, InstrId at) const {
  for (unsigned i = 0; i < kMostCopies; ++i) {
    const ValueKey k = values_.read(reg, at);
    const InstrId id = k.valid() ? values_.definition(k) : InstrId();
    if (!id.valid()) return false;
    const OpcodeForm& form = module_.form(f_[id]);
    if (isParameterLoad(form)) return true;
    if (form.op != Op::Cvta && !isMove64(form)) return false;
    const auto operands = f_.operandsOf(f_[id]);
    if (operands.size() != 2) return false;
    if (!operands[1].isRegister()) return true;  // of a variable
    if (operands[1].flags != 0) return false;
    reg = operands[1].reg();
    at = id;
  }
  return false;
}

bool ProductUses::isUniform(RegId reg) {
  return context_.analyses.registerFiles().of(reg) == RegisterFile::Uniform;
}

// Whether it counts the iterations of a loop that `outside` is not in.
bool ProductUses::isRecurrence(RegId reg, InstrId at, BlockId outside) {
  ScalarEvolution& evolution = context_.analyses.scalarEvolution();
  const ExprId e = evolution.read(reg, at);
  if (!e.valid()) return false;
  const Expr& x = evolution.expressions()[e];
  return x.kind == ExprKind::Recurrence && !context_.analyses.loops().contains(x.loop, outside);
}

ProductUses::Counts ProductUses::ofAddition(const Operand& other, InstrId at, BlockId home) {
  const LoopId l = context_.analyses.loops().of(context_.analyses.cfg().blockOf(at));
  const bool isInLoop = l.valid() && !context_.analyses.loops().contains(l, home);
  if (!other.isRegister() || other.flags != 0) return {.others = 1};
  if (isParameter(other.reg(), at)) return {.parameters = 1};
  if (isUniform(other.reg())) return {.uniform = 1};
  if (isInLoop && isRecurrence(other.reg(), at, home)) return {.steps = 1};
  return {.pairs = 1};
}

ProductUses::Counts ProductUses::of(const Operand& result, InstrId id) {
  const ValueKey k = values_.written(result.reg(), id);
  if (!k.valid() || !values_.isAlone(k)) return {.others = 1};
  const BlockId home = context_.analyses.cfg().blockOf(id);
  Counts all;
  for (const ValueUse& u : values_.uses(k)) {
    const auto operands = f_.operandsOf(f_[u.at]);
    if (u.isAddress || f_[u.at].is(Instruction::Guarded) || !isAddition(module_.form(f_[u.at])) ||
        operands.size() != 3) {
      ++all.others;
      continue;
    }
    const Counts c = ofAddition(operands[u.operand == 1 ? 2 : 1], u.at, home);
    all.pairs += c.pairs;
    all.parameters += c.parameters;
    all.uniform += c.uniform;
    all.steps += c.steps;
    all.others += c.others;
  }
  return all;
}

}  // namespace ptxopt
