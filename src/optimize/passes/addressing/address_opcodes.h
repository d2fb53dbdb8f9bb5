// What the passes over addresses ask of opcodes. What asks for an exact form (isAddition and so on) takes no other
// modifier, neither a carry nor saturation.
#pragma once

#include "ir/opcode_predicates.h"

namespace ptxopt {

// The operation with .s64 or .u64 and nothing else.
inline bool isExactly64(const OpcodeForm& form, Op op) {
  return form.isExactly(op, ScalarType::s64) || form.isExactly(op, ScalarType::u64);
}
inline bool isAddition(const OpcodeForm& form) { return isExactly64(form, Op::Add); }
inline bool isSubtraction(const OpcodeForm& form) { return isExactly64(form, Op::Sub); }
inline bool isMultiplication(const OpcodeForm& form) {
  return form.isExactly(Op::Mul, ProductHalf::Lo, ScalarType::s64) ||
         form.isExactly(Op::Mul, ProductHalf::Lo, ScalarType::u64);
}
inline bool isShift(const OpcodeForm& form) { return form.isExactly(Op::Shl, ScalarType::b64); }
inline bool isMask(const OpcodeForm& form) { return form.isExactly(Op::And, ScalarType::b64); }
inline bool isMove64(const OpcodeForm& form) {
  return isExactly64(form, Op::Mov) || form.isExactly(Op::Mov, ScalarType::b64);
}
// From 32 bits to 64, whatever the signs.
inline bool isExtension(const OpcodeForm& form) {
  return form.isConversion(ScalarType::s64, ScalarType::s32) ||
         form.isConversion(ScalarType::u64, ScalarType::u32) ||
         form.isConversion(ScalarType::u64, ScalarType::s32) || form.isConversion(ScalarType::s64, ScalarType::u32);
}

// `mul.wide` of any type.
inline bool isWideProduct(const OpcodeForm& form) { return form.op == Op::Mul && form.half == ProductHalf::Wide; }
// `mul.wide` and `mad.wide` of 32-bit numbers.
inline bool isExactlyWide(const OpcodeForm& form, Op op) {
  return form.isExactly(op, ProductHalf::Wide, ScalarType::s32) ||
         form.isExactly(op, ProductHalf::Wide, ScalarType::u32);
}

// What ptxas makes no instruction of: mov and cvta.
inline bool isFreeCopy(const OpcodeForm& form) { return form.op == Op::Mov || form.op == Op::Cvta; }

}  // namespace ptxopt
