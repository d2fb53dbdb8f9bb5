// A table lists the opcodes that count as cheap; a copy is as cheap as what it copies, through up to eight copies. A
// definition reads the same at another place if each source has one value at both.
#include "passes/splitting/cheap_definitions.h"

#include <algorithm>

#include "ir/opcode_predicates.h"

namespace ptxopt {
namespace {

constexpr Op kCheap[] = {Op::Abs,  Op::Add,  Op::And, Op::Bfe, Op::Bfi, Op::Cvt, Op::Cvta, Op::Lop3,
                         Op::Mad,  Op::Max,  Op::Min, Op::Mov, Op::Mul, Op::Neg, Op::Not,  Op::Or,
                         Op::Prmt, Op::Selp, Op::Shf, Op::Shl, Op::Shr, Op::Sub, Op::Xor};

constexpr std::size_t kMostChainCopies = 8;  // in a chain

bool isKernelParameter(const Module& module, const Function& f, const Instruction& i) {
  if (!f.isEntry || f.hidesNames || !isParameterLoad(module.form(i))) return false;
  const auto operands = f.operandsOf(i);
  return std::ranges::none_of(operands.subspan(1), [](const Operand& o) { return o.isRegister(); }) &&
         std::ranges::any_of(operands, [&](const Operand& o) {
           return o.kind == OperandKind::Variable && f.variables[o.payload].isParameter;
         });
}

bool isRepeatable(const Module& module, const Function& f, const Operand& o) {
  switch (o.kind) {
    case OperandKind::Register: return o.role == Role::Use;
    case OperandKind::SpecialRegister: return !o.is(Operand::VolatileRead) && !f.hidesSpecialRegisters;
    case OperandKind::Symbol: return module.symbols[o.payload].kind == SymbolKind::Variable && !f.hidesNames;
    case OperandKind::Variable: return !f.variables[o.payload].isNested && !f.hidesNames;
    case OperandKind::Label:
    case OperandKind::Sink:
    case OperandKind::Selector:
    case OperandKind::Vector:
    case OperandKind::Memory:
    case OperandKind::Paren: return false;
    default: return true;
  }
}

}  // namespace

bool isCheapDefinition(const Module& module, const Function& f, const Instruction& i) {
  if (!i.isInstruction() || i.is(Instruction::Guarded) || i.operandCount < 2) return false;
  const OpcodeForm& form = module.form(i);
  const auto operands = f.operandsOf(i);
  if (!operands[0].isRegister() || operands[0].role != Role::Def || form.vector != 1 ||
      f.registers[operands[0].payload].lanes != 1)
    return false;
  if (isKernelParameter(module, f, i)) return form.effects == effect::Read;
  if (form.effects != effect::Pure || info(form.type).registerClass == RegisterClass::F64) return false;
  return std::ranges::find(kCheap, form.op) != std::end(kCheap) &&
         std::ranges::all_of(operands.subspan(1), [&](const Operand& o) { return isRepeatable(module, f, o); });
}

bool hasCheapValue(const Module& module, const Function& f, const LiveIntervals& intervals,
                   const SlotIndexes& slots, RegId reg) {
  // A copy is as cheap as what it copies, where both have one value.
  for (std::size_t steps = 0; steps < kMostChainCopies && intervals[reg].values().size() == 1; ++steps) {
    const LiveValue& v = intervals[reg].values()[0];
    if (v.kind != ValueKind::Instruction) break;
    const auto operands = f.operandsOf(f[slots.instructionAt(v.def)]);
    if (operands.size() != 2 || !operands[0].isRegister() || operands[0].role != Role::Def ||
        !operands[1].isRegister() || module.form(f[slots.instructionAt(v.def)]).op != Op::Mov)
      break;
    reg = operands[1].reg();
  }
  return std::ranges::any_of(intervals[reg].values(), [&](const LiveValue& v) {
    return v.kind == ValueKind::Instruction && isCheapDefinition(module, f, f[slots.instructionAt(v.def)]);
  });
}

bool readsSameAt(const Function& f, const LiveIntervals& intervals, const SlotIndexes& slots, InstrId definition,
                 SlotIndex where) {
  return std::ranges::all_of(f.operandsOf(f[definition]), [&](const Operand& o) {
    if (!o.isRegister() || !o.reads()) return true;
    const LiveRange& range = intervals[o.reg()];
    const ValueId then = range.valueIn(slots[definition]);
    return then.valid() && range.valueAt(where) == then;
  });
}

void insertAgain(Function& f, InstrId definition, InstrId place) {
  const Instruction i = f[definition];
  const auto operands = f.operandsOf(i);
  f.insert(place, i.opcode(), std::vector<Operand>(operands.begin(), operands.end()));
}

}  // namespace ptxopt
