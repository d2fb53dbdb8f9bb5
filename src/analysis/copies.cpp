#include "analysis/copies.h"

namespace ptxopt {

std::string_view name(CopyFamily family) {
  static constexpr std::string_view kNames[] = {"plain", "retyped", "cross-class", "convert", "address"};
  return kNames[static_cast<std::size_t>(family)];
}

namespace {

bool isPlainInteger(ScalarType t) {
  switch (t) {
    case ScalarType::b16:
    case ScalarType::u16:
    case ScalarType::s16:
    case ScalarType::b32:
    case ScalarType::u32:
    case ScalarType::s32:
    case ScalarType::b64:
    case ScalarType::u64:
    case ScalarType::s64: return true;
    default: return false;
  }
}

// A register that copies are looked for in. 8-bit, 128-bit and vector registers and handles stay as they are.
bool takesPart(const Register& r) {
  switch (r.type) {
    case ScalarType::texref:
    case ScalarType::samplerref:
    case ScalarType::surfref: return false;
    default: break;
  }
  const RegisterClass c = r.registerClass();
  return r.lanes == 1 && c != RegisterClass::B8 && c != RegisterClass::B128 && c != RegisterClass::Carry;
}

CopyFamily familyOfMove(const OpcodeForm& form, const Register& to, const Register& from) {
  if (to.registerClass() != from.registerClass()) return CopyFamily::CrossClass;
  if (!areInterchangeable(to.type, from.type) || info(form.type).registerClass != to.registerClass())
    return CopyFamily::Retyped;
  return CopyFamily::Plain;
}

// `cvt.u32.s32`: both types and nothing else. Of equal floating-point formats it would be one, too, but ptxas may
// quiet a NaN there.
bool isIdentityConversion(std::string_view opcode, const OpcodeForm& form) {
  if (!isPlainInteger(form.type) || !isPlainInteger(form.sourceType)) return false;
  if (info(form.type).bits != info(form.sourceType).bits) return false;
  return opcode.size() == 5 + info(form.type).name.size() + info(form.sourceType).name.size();
}

}  // namespace

bool areInterchangeable(ScalarType a, ScalarType b) {
  return a == b || (isPlainInteger(a) && isPlainInteger(b) && info(a).bits == info(b).bits);
}

std::optional<Copy> readCopy(const Module& module, const Function& function, InstrId id) {
  const Instruction& i = function[id];
  const bool isGuarded = i.is(Instruction::Guarded);
  if (!i.isInstruction() || i.operandCount != 2u + isGuarded) return std::nullopt;
  const auto operands = function.operandsOf(i).subspan(isGuarded);
  const Operand& to = operands[0];
  const Operand& from = operands[1];
  if (!to.isRegister() || !from.isRegister() || from.flags != 0 || !to.writes()) return std::nullopt;
  const OpcodeForm& form = module.form(i);
  const std::string_view key = form.row == nullptr ? std::string_view() : form.row->key;
  if (key != "mov" && key != "cvt" && key != "cvta") return std::nullopt;

  const Register& target = function.registers[to.payload];
  const Register& source = function.registers[from.payload];
  if (!takesPart(target) || !takesPart(source)) return std::nullopt;
  if (info(target.type).bits != info(source.type).bits) return std::nullopt;
  Copy copy{id, to.reg(), from.reg(), CopyFamily::Plain, isGuarded};
  const unsigned bits = info(form.type).bits;
  const std::string_view opcode = module.text(form.text);
  if (key == "mov") {
    if (bits != info(target.type).bits || form.vector != 1) return std::nullopt;
    copy.family = familyOfMove(form, target, source);
  } else if (key == "cvt") {
    if (bits != info(target.type).bits || !isIdentityConversion(opcode, form)) return std::nullopt;
    copy.family = CopyFamily::Convert;
  } else {
    // The size of an address as the register has it; a 32-bit one would be extended.
    if (bits != 64 || info(target.type).bits != 64) return std::nullopt;
    if (!opcode.starts_with("cvta.global.") && !opcode.starts_with("cvta.to.global.")) return std::nullopt;
    copy.family = CopyFamily::Address;
  }
  return copy;
}

}  // namespace ptxopt
