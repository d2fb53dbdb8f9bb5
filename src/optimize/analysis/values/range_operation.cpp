// A row for each opcode says with how many types and which fields it is understood; anything else written on it makes
// it no operation. The evaluation is one switch over the kinds.
#include "analysis/values/range_operation.h"

#include "analysis/values/branch_conditions.h"

namespace ptxopt {
namespace {

using Kind = RangeOperation::Kind;

// How an operation is written: with that many types, and nothing else than these fields.
struct OperationRow {
  Kind kind = Kind::None;
  uint8_t sources = 0;
  uint8_t types = 1;
  unsigned fields = 0;
};

Kind byHalf(ProductHalf half, Kind lo, Kind hi, Kind wide) {
  switch (half) {
    case ProductHalf::Lo: return lo;
    case ProductHalf::Hi: return hi;
    case ProductHalf::Wide: return wide;
    case ProductHalf::None: break;
  }
  return Kind::None;
}

bool isPair(ScalarType type) { return type == ScalarType::f16x2 || type == ScalarType::bf16x2; }

OperationRow rowOf(const OpcodeForm& form) {
  constexpr unsigned kCarry = field::Flag, kHalf = field::Half, kTest = field::Comparison | field::Operation;
  switch (form.op) {
    case Op::Mov: return {Kind::Copy, 1};
    case Op::Cvt: return {Kind::Convert, 1, 2};
    case Op::Add: return {Kind::Add, 2, 1, kCarry};
    case Op::Sub: return {Kind::Sub, 2, 1, kCarry};
    case Op::Mul: {
      const Kind kind = byHalf(form.half, Kind::Multiply, Kind::MultiplyHigh, Kind::MultiplyWide);
      return {kind, 2, 1, kHalf};
    }
    case Op::Mad: {
      const Kind kind = byHalf(form.half, Kind::MultiplyAdd, Kind::MultiplyHighAdd, Kind::MultiplyWideAdd);
      return {kind, 3, 1, kind == Kind::MultiplyAdd ? kHalf | kCarry : kHalf};
    }
    case Op::Div: return {Kind::Divide, 2};
    case Op::Rem: return {Kind::Remainder, 2};
    case Op::Min: return {Kind::Min, 2};
    case Op::Max: return {Kind::Max, 2};
    case Op::Abs: return {Kind::Absolute, 1};
    case Op::Neg: return {Kind::Negate, 1};
    case Op::And: return {Kind::And, 2};
    case Op::Or: return {Kind::Or, 2};
    case Op::Xor: return {Kind::Xor, 2};
    case Op::Not: return {Kind::Not, 1};
    case Op::Cnot: return {Kind::IsZero, 1};
    case Op::Shl: return {Kind::ShiftLeft, 2};
    case Op::Shr: return {Kind::ShiftRight, 2};
    case Op::Bfe: return {Kind::Extract, 3};
    case Op::Popc: return {Kind::Ones, 1};
    case Op::Clz: return {Kind::LeadingZeros, 1};
    case Op::Selp: return {Kind::Choose, 2};
    case Op::Slct: return {Kind::Choose, 2, 2};
    // For pairs, each half of the result is all ones or zero by itself.
    case Op::Set:
      return relationOf(form.comparison) && !isPair(form.sourceType) ? OperationRow{Kind::Compare, 0, 2, kTest}
                                                                     : OperationRow();
    default: return {};
  }
}

// Whatever the modifiers.
RangeOperation readLoad(const OpcodeForm& form) {
  if (!isInteger(form.type)) return {};
  RangeOperation o;
  o.kind = Kind::Load;
  o.width = static_cast<uint8_t>(info(form.type).bits);
  o.extends = true;
  o.extendsSign = isSignedType(form.type);
  return o;
}

bool isFloat(ScalarType type) { return type == ScalarType::f32 || type == ScalarType::f64; }

RangeOperation complete(const OperationRow& row, ScalarType to, ScalarType from) {
  const auto width = static_cast<uint8_t>(info(to).bits);
  RangeOperation o;
  o.kind = row.kind;
  o.width = width;
  o.isSigned = isSignedType(from);
  o.sources = row.sources;
  o.sourceWidths = {width, width, width};
  const bool isBytes = info(to).bits < 16 || info(from).bits < 16;
  switch (row.kind) {
    case Kind::Convert:
      if (!isInteger(to) || !isInteger(from)) return {};
      o.sourceWidths[0] = static_cast<uint8_t>(info(from).bits);
      o.extends = true;
      o.extendsSign = isSignedType(to);
      return o;
    case Kind::Compare:
      if (to != ScalarType::u32 && to != ScalarType::s32) return {};
      return o;
    case Kind::Copy:
    case Kind::Choose:
      if (isBytes || (!isInteger(to) && !isFloat(to))) return {};
      return o;
    case Kind::MultiplyWide:
    case Kind::MultiplyWideAdd:
      if (width > 32) return {};
      o.width = static_cast<uint8_t>(2 * width);
      o.sourceWidths[2] = o.width;
      break;
    case Kind::ShiftLeft:
    case Kind::ShiftRight: o.sourceWidths[1] = 32; break;
    case Kind::Extract: o.sourceWidths[1] = o.sourceWidths[2] = 32; break;
    case Kind::Ones:
    case Kind::LeadingZeros: o.width = 32; break;
    default: break;
  }
  return isBytes || !isInteger(to) ? RangeOperation() : o;
}

IntegerRange extract(const IntegerRange& a, const IntegerRange& position, const IntegerRange& length,
                     bool isSigned) {
  const unsigned width = a.width();
  // The ISA takes a byte of each; the code that ptxas makes for 64 bits takes all of them.
  const auto isKnown = [&](const IntegerRange& r) { return r.isConstant() && (width == 32 || r.least() <= 0xFF); };
  if (!isKnown(position) || !isKnown(length)) {
    // An unsigned number never loses more than there is.
    return isSigned ? IntegerRange::full(width) : IntegerRange::ofUnsigned(width, 0, a.most());
  }
  const uint64_t from = position.least() & 0xFF, bits = length.least() & 0xFF;
  if (bits == 0) return IntegerRange::constant(width, 0);
  const IntegerRange by = IntegerRange::constant(32, from);
  const IntegerRange shifted = isSigned ? ashr(a, by) : lshr(a, by);
  if (bits >= width || (isSigned && from + bits >= width)) return shifted;
  return isSigned ? sext(trunc(shifted, static_cast<unsigned>(bits)), width)
                  : zext(trunc(shifted, static_cast<unsigned>(bits)), width);
}

}  // namespace

RangeOperation readRangeOperation(const OpcodeForm& form) {
  if (form.op == Op::Ld || form.op == Op::Ldu) return readLoad(form);
  const OperationRow row = rowOf(form);
  // The carry is another register.
  constexpr uint32_t kCarryOut = 1u << static_cast<unsigned>(ModifierFlag::CarryOut);
  const bool isKnown = form.typeCount == row.types && form.hasOnly(row.fields) && (form.flags & ~kCarryOut) == 0;
  return isKnown && row.kind != Kind::None ? complete(row, form.type, form.sourceType) : RangeOperation();
}

IntegerRange RangeOperation::evaluate(std::span<const IntegerRange> s) const {
  const auto widened = [&](const IntegerRange& a) { return isSigned ? sext(a, width) : zext(a, width); };
  switch (kind) {
    case Kind::None:
    case Kind::Load: return IntegerRange::full(width);
    case Kind::Copy: return s[0];
    case Kind::Convert: return isSigned ? sext(s[0], width) : zext(s[0], width);
    case Kind::Add: return add(s[0], s[1]);
    case Kind::Sub: return sub(s[0], s[1]);
    case Kind::Multiply: return mul(s[0], s[1]);
    case Kind::MultiplyHigh: return isSigned ? mulHighSigned(s[0], s[1]) : mulHighUnsigned(s[0], s[1]);
    case Kind::MultiplyWide: return mul(widened(s[0]), widened(s[1]));
    case Kind::MultiplyAdd: return add(mul(s[0], s[1]), s[2]);
    case Kind::MultiplyHighAdd:
      return add(isSigned ? mulHighSigned(s[0], s[1]) : mulHighUnsigned(s[0], s[1]), s[2]);
    case Kind::MultiplyWideAdd: return add(mul(widened(s[0]), widened(s[1])), s[2]);
    case Kind::Divide: return isSigned ? sdiv(s[0], s[1]) : udiv(s[0], s[1]);
    case Kind::Remainder: return isSigned ? srem(s[0], s[1]) : urem(s[0], s[1]);
    case Kind::Min: return isSigned ? smin(s[0], s[1]) : umin(s[0], s[1]);
    case Kind::Max: return isSigned ? smax(s[0], s[1]) : umax(s[0], s[1]);
    case Kind::Absolute: return abs(s[0]);
    case Kind::Negate: return neg(s[0]);
    case Kind::And: return bitAnd(s[0], s[1]);
    case Kind::Or: return bitOr(s[0], s[1]);
    case Kind::Xor: return bitXor(s[0], s[1]);
    case Kind::Not: return bitNot(s[0]);
    case Kind::IsZero: return IntegerRange::ofUnsigned(width, 0, 1);
    case Kind::ShiftLeft: return shl(s[0], s[1]);
    case Kind::ShiftRight: return isSigned ? ashr(s[0], s[1]) : lshr(s[0], s[1]);
    case Kind::Extract: return extract(s[0], s[1], s[2], isSigned);
    case Kind::Ones: return popc(s[0], width);
    case Kind::LeadingZeros: return clz(s[0], width);
    case Kind::Choose: return s[0].join(s[1]);
    case Kind::Compare: return IntegerRange::ofSigned(width, -1, 0);
  }
  return IntegerRange::full(width);
}

}  // namespace ptxopt
