#include "reduce/literals.h"

#include <bit>

namespace ptxopt::reduce {

LiteralKind literalKindOfClass(RegisterClass c) {
  return c == RegisterClass::F32   ? LiteralKind::Float32
         : c == RegisterClass::F64 ? LiteralKind::Float64
                                   : LiteralKind::Integer;
}

Operand literal(Edit& edit, Function& f, LiteralKind kind, int value) {
  switch (kind) {
    case LiteralKind::Float32:
      return {.kind = OperandKind::Float32, .payload = std::bit_cast<uint32_t>(static_cast<float>(value))};
    case LiteralKind::Float64:
      return edit.constant64(f, OperandKind::Float64, std::bit_cast<uint64_t>(static_cast<double>(value)));
    case LiteralKind::Integer: break;
  }
  return integerOperand(value, Join::None);
}

std::optional<LiteralKind> literalFor(const OpcodeForm& form, const Register& reg) {
  if (reg.lanes != 1) return std::nullopt;
  switch (reg.registerClass()) {
    case RegisterClass::Pred:
    case RegisterClass::Carry:
    case RegisterClass::B8:
    case RegisterClass::B128: return std::nullopt;
    case RegisterClass::F32: return LiteralKind::Float32;
    case RegisterClass::F64: return LiteralKind::Float64;
    default: break;
  }
  // Untyped registers may hold floats; the half types have no immediates.
  const ScalarType type = form.sourceType != ScalarType::None ? form.sourceType : form.type;
  if (type == ScalarType::f32 && info(reg.type).bits == 32) return LiteralKind::Float32;
  if (type == ScalarType::f64 && info(reg.type).bits == 64) return LiteralKind::Float64;
  if (type == ScalarType::f16 || type == ScalarType::f16x2 || type == ScalarType::bf16 ||
      type == ScalarType::bf16x2)
    return std::nullopt;
  return LiteralKind::Integer;
}

}  // namespace ptxopt::reduce
