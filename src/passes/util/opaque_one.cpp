#include "passes/util/opaque_one.h"

#include "ir/function.h"
#include "passes/util/insertion_places.h"

namespace ptxopt {

RegId makeOne(Function& f, const PassContext& context, InstrId& after) {
  const Module& module = context.module;
  // Where control enters: after the label, the declarations and braces of the first block.
  after = context.analyses.cfg()[BlockId(0u)].first;
  while (after.valid() && !f[after].isInstruction()) after = f[after].next;
  if (after.valid()) after = placeBefore(module, f, after);
  const RegId blocks = f.makeRegister(ScalarType::b32);
  const RegId one = f.makeRegister(ScalarType::b32, 1, Purpose::One);
  Operand grid;
  grid.kind = OperandKind::SpecialRegister;
  grid.join = Join::Comma;
  grid.payload = module.synth.nctaid.value;
  f.insert(after, module.synthOpcode(SynthOpcode::MovU32),
           std::vector<Operand>{registerOperand(blocks, Role::Def), grid});
  f.insert(after, module.synthOpcode(SynthOpcode::MinU32),
           std::vector<Operand>{registerOperand(one, Role::Def), registerOperand(blocks, Role::Use, Join::Comma),
                                integerOperand(1)});
  return one;
}

}  // namespace ptxopt
