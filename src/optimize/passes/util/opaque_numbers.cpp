#include "passes/util/opaque_numbers.h"

#include "ir/function.h"
#include "passes/util/insertion_places.h"
#include "target/target.h"

namespace ptxopt {
namespace {

// What the function copies anyway of special registers below two to the 31.
NameId readBelowSign(const Module& module, const Function& f, Opaque kind) {
  bool readsBlock = false, readsThread = false;
  for (const InstrId id : f) {
    if (!f[id].isInstruction() || module.form(f[id]).op != Op::Mov) continue;
    for (const Operand& o : f.operandsOf(f[id])) {
      if (o.kind != OperandKind::SpecialRegister) continue;
      readsBlock |= o.payload == module.synth.ctaid.value;
      readsThread |= o.payload == module.synth.tid[0].value;
    }
  }
  if (kind == Opaque::Any && readsThread) return module.synth.tid[0];
  return readsBlock ? module.synth.ctaid : NameId();
}

}  // namespace

RegId makeOpaque(Function& f, const PassContext& context, int32_t number, Purpose purpose, Opaque kind,
                 InstrId& after) {
  const Module& module = context.module;
  // Where control enters: after the label, the declarations and braces of the first block.
  after = context.analyses.cfg()[BlockId(0u)].first;
  while (after.valid() && !f[after].isInstruction()) after = f[after].next;
  if (after.valid()) after = placeBefore(module, f, after);
  const auto compute = [&](SynthOpcode opcode, RegId to, RegId from, int32_t by) {
    f.insert(after, module.synthOpcode(opcode),
             std::vector<Operand>{registerOperand(to, Role::Def), registerOperand(from, Role::Use, Join::Comma),
                                  integerOperand(by)});
  };
  const bool mayReadBlock = !context.target().has(target::Capability::SlowBlockIndex);
  const NameId read = mayReadBlock ? readBelowSign(module, f, kind) : NameId();
  const int32_t had = read.valid() ? 0 : 1;
  const RegId special = f.makeRegister(ScalarType::b32);
  const RegId result = f.makeRegister(ScalarType::b32, 1, purpose);
  const RegId known = number == had ? result : f.makeRegister(ScalarType::b32);
  Operand source;
  source.kind = OperandKind::SpecialRegister;
  source.join = Join::Comma;
  source.payload = (read.valid() ? read : module.synth.nctaid).value;
  f.insert(after, module.synthOpcode(SynthOpcode::MovU32),
           std::vector<Operand>{registerOperand(special, Role::Def), source});
  if (read.valid())
    compute(SynthOpcode::ShrU32, known, special, 31);
  else
    compute(SynthOpcode::MinU32, known, special, 1);
  if (known != result) compute(SynthOpcode::AddS32, result, known, number - had);
  return result;
}

}  // namespace ptxopt
