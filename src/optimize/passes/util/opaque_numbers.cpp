// A special register below 2^31 that the function reads anyway gives 0 by a shift; otherwise the minimum of %nctaid.x
// and 1 gives 1. The difference from the number that is wanted is then added.
#include "passes/util/opaque_numbers.h"

#include <algorithm>
#include <initializer_list>

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

// A copy of one of three special registers.
bool isCopyOf(const Module& module, const Function& f, InstrId id, std::initializer_list<NameId> names) {
  if (!id.valid() || module.form(f[id]).op != Op::Mov || f[id].is(Instruction::Guarded)) return false;
  const auto operands = f.operandsOf(f[id]);
  return operands.size() == 2 && operands[1].kind == OperandKind::SpecialRegister &&
         std::ranges::any_of(names, [&](NameId n) { return operands[1].payload == n.value; });
}

}  // namespace

RegId makeOpaque(Function& f, const PassContext& context, int32_t number, NameHint hint, Opaque kind,
                 InstrId& after) {
  const Module& module = context.module;
  // Where control enters: after the label, the declarations and braces of the first block.
  after = context.analyses.cfg()[BlockId(0u)].first;
  while (after.valid() && !f[after].isInstruction()) after = f[after].next;
  if (after.valid()) after = placeBefore(module, f, after);
  const auto compute = [&](SynthOpcode opcode, RegId to, RegId from, int32_t by) {
    f.insert(after, module.synthOpcode(opcode),
             std::vector<Operand>{defOperand(to), useOperand(from), integerOperand(by)});
  };
  const bool mayReadBlock = !context.target().has(target::Capability::SlowBlockIndex);
  const NameId read = mayReadBlock ? readBelowSign(module, f, kind) : NameId();
  const int32_t had = read.valid() ? 0 : 1;
  const RegId special = f.makeRegister(ScalarType::b32);
  const RegId result = f.makeRegister(ScalarType::b32, 1, hint);
  const RegId known = number == had ? result : f.makeRegister(ScalarType::b32);
  Operand source;
  source.kind = OperandKind::SpecialRegister;
  source.join = Join::Comma;
  source.payload = (read.valid() ? read : module.synth.nctaid).value;
  f.insert(after, module.synthOpcode(SynthOpcode::MovU32), std::vector<Operand>{defOperand(special), source});
  if (read.valid())
    compute(SynthOpcode::ShrU32, known, special, 31);
  else
    compute(SynthOpcode::MinU32, known, special, 1);
  if (known != result) compute(SynthOpcode::AddS32, result, known, number - had);
  return result;
}

bool isOpaqueOne(const Module& module, const Function& f, RegId reg,
                 const std::function<InstrId(RegId)>& definition) {
  // `op reg, source, number`, unguarded: what makes the source.
  const auto sourceOf = [&](InstrId id, Op op, ScalarType type, uint64_t number) {
    if (!id.valid() || f[id].is(Instruction::Guarded) || !module.form(f[id]).isExactly(op, type)) return InstrId();
    const auto operands = f.operandsOf(f[id]);
    const bool fits = operands.size() == 3 && operands[1].isRegister() && operands[1].flags == 0 &&
                      immediate(f, operands[2]) == number;
    return fits ? definition(operands[1].reg()) : InstrId();
  };
  const InstrId made = definition(reg);
  if (isCopyOf(module, f, sourceOf(made, Op::Min, ScalarType::u32, 1), {module.synth.nctaid})) return true;
  const InstrId zero = sourceOf(made, Op::Add, ScalarType::s32, 1);
  return isCopyOf(module, f, sourceOf(zero, Op::Shr, ScalarType::u32, 31),
                  {module.synth.ctaid, module.synth.tid[0]});
}

}  // namespace ptxopt
