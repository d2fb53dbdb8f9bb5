// A copy is recognized by its opcode's fields and the declared types of both registers, and the first family that fits
// is taken. Vector moves give one copy for each lane.
#include "analysis/dataflow/copies.h"

#include "ir/opcode_predicates.h"

namespace ptxopt {

std::string_view name(CopyFamily family) {
  static constexpr std::string_view kNames[] = {"plain",  "retyped", "cross-class", "convert", "address",
                                                "select", "vector",  "unpack",      "pack"};
  return kNames[static_cast<std::size_t>(family)];
}

namespace {

CopyFamily familyOfMove(const OpcodeForm& form, const Register& to, const Register& from) {
  if (to.registerClass() != from.registerClass()) return CopyFamily::CrossClass;
  if (!areInterchangeable(to.type, from.type) || info(form.type).registerClass != to.registerClass())
    return CopyFamily::Retyped;
  return CopyFamily::Plain;
}

// `cvt.u32.s32`: both types and nothing else. With equal floating-point formats it would be one, too, but ptxas may
// quiet a NaN there.
bool isIdentityConversion(const OpcodeForm& form) {
  return form.hasOnly(0) && form.typeCount == 2 && isIntegerOrBits(form.type) && isIntegerOrBits(form.sourceType) &&
         info(form.type).bits == info(form.sourceType).bits;
}

}  // namespace

bool takesPartInCopies(const Register& r) {
  switch (r.type) {
    case ScalarType::texref:
    case ScalarType::samplerref:
    case ScalarType::surfref: return false;
    default: break;
  }
  const RegisterClass c = r.registerClass();
  return r.lanes == 1 && c != RegisterClass::B8 && c != RegisterClass::B128 && c != RegisterClass::Carry;
}

bool areInterchangeable(ScalarType a, ScalarType b) {
  return a == b || (isIntegerOrBits(a) && isIntegerOrBits(b) && info(a).bits == info(b).bits);
}

std::optional<Copy> readCopy(const Module& module, const Function& function, InstrId id) {
  const Instruction& i = function[id];
  const bool isGuarded = i.is(Instruction::Guarded);
  if (!i.isInstruction() || i.operandCount < 2u + isGuarded || i.operandCount > 4u + isGuarded) return std::nullopt;
  const auto operands = function.operandsOf(i).subspan(isGuarded);
  const Operand& to = operands[0];
  const Operand& from = operands[1];
  if (!to.isRegister() || !from.isRegister() || from.flags != 0 || !to.writes()) return std::nullopt;
  const OpcodeForm& form = module.form(i);
  const bool isSelect = form.op == Op::Selp;
  if (!mayCopy(form.op)) return std::nullopt;
  if (operands.size() != (isSelect ? 4 : 2)) return std::nullopt;

  const Register& target = function.registers[to.payload];
  const Register& source = function.registers[from.payload];
  if (!takesPartInCopies(target) || !takesPartInCopies(source)) return std::nullopt;
  if (info(target.type).bits != info(source.type).bits) return std::nullopt;
  Copy copy{id, to.reg(), from.reg(), CopyFamily::Plain, isGuarded, {}, {}};
  const unsigned bits = info(form.type).bits;
  if (form.op == Op::Mov) {
    if (bits != info(target.type).bits || form.vector != 1) return std::nullopt;
    copy.family = familyOfMove(form, target, source);
  } else if (isSelect) {
    const Operand& other = operands[2];
    if (bits != info(target.type).bits || !other.isRegister() || other.payload != from.payload || other.flags != 0)
      return std::nullopt;
    copy.family = CopyFamily::Select;
  } else if (form.op == Op::Cvt) {
    if (bits != info(target.type).bits || !isIdentityConversion(form)) return std::nullopt;
    copy.family = CopyFamily::Convert;
  } else {
    // The size of an address as the register has it; a 32-bit one would be extended.
    if (bits != 64 || info(target.type).bits != 64 || !isGlobalConversion(form)) return std::nullopt;
    copy.family = CopyFamily::Address;
  }
  return copy;
}

void readCopies(const Module& module, const Function& function, InstrId id, std::vector<Copy>& copies) {
  const Instruction& i = function[id];
  if (!i.isInstruction()) return;
  const OpcodeForm& form = module.form(i);
  if (!mayCopy(form.op)) return;
  if (const auto copy = readCopy(module, function, id)) return copies.push_back(*copy);
  if (form.op != Op::Mov || form.vector == 1 || i.is(Instruction::Guarded)) return;
  const auto operands = function.operandsOf(i);
  const std::size_t lanes = form.vector;
  if (operands.size() != 2 * lanes + 2 || operands[0].inside() != lanes || operands[lanes + 1].inside() != lanes)
    return;
  const auto to = operands.subspan(1, lanes), from = operands.subspan(lanes + 2);
  for (std::size_t k = 0; k < lanes; ++k)
    for (std::size_t other = 0; other < k; ++other)
      if (to[k].isRegister() && to[other].isRegister() && to[k].payload == to[other].payload) return;
  for (std::size_t k = 0; k < lanes; ++k) {
    if (!to[k].isRegister() || !from[k].isRegister() || from[k].flags != 0) continue;
    const Register& target = function.registers[to[k].payload];
    const Register& source = function.registers[from[k].payload];
    const unsigned bits = info(form.type).bits;
    if (!takesPartInCopies(target) || !takesPartInCopies(source)) continue;
    if (info(target.type).bits == bits && info(source.type).bits == bits)
      copies.push_back({id, to[k].reg(), from[k].reg(), CopyFamily::Vector, false, {}, {}});
  }
}

}  // namespace ptxopt
