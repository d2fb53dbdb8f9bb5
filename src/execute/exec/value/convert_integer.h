// Integer conversions: cvt between integer types, and cvt.pack.
//
// Integers travel in 64 bits; of a source only the low bits of its type count, and a result of a signed type is
// sign extended, one of an unsigned type zero extended to 64 bits, as the ISA wants it in a wider register.
#pragma once

#include <cstdint>
#include <limits>

#include "exec/value/convert_format.h"

namespace ptxopt::exec {

// The low bits of the format, extended by its sign.
constexpr uint64_t extend(uint64_t bits, ScalarFormat format) {
  switch (format) {
    case ScalarFormat::U8: return static_cast<uint8_t>(bits);
    case ScalarFormat::S8: return static_cast<uint64_t>(static_cast<int8_t>(bits));
    case ScalarFormat::U16: return static_cast<uint16_t>(bits);
    case ScalarFormat::S16: return static_cast<uint64_t>(static_cast<int16_t>(bits));
    case ScalarFormat::U32: return static_cast<uint32_t>(bits);
    case ScalarFormat::S32: return static_cast<uint64_t>(static_cast<int32_t>(bits));
    default: return bits;
  }
}

constexpr uint64_t largestInteger(ScalarFormat format) {
  return std::numeric_limits<uint64_t>::max() >> (64 - integerBits(format) + (isSigned(format) ? 1 : 0));
}

// The number of this sign and magnitude, clamped to the range of `format`.
constexpr uint64_t clampedInteger(bool negative, uint64_t magnitude, ScalarFormat format) {
  const uint64_t largest = largestInteger(format);
  if (!negative) return magnitude < largest ? magnitude : largest;
  const uint64_t lowest = isSigned(format) ? largest + 1 : 0;
  return uint64_t{0} - (magnitude < lowest ? magnitude : lowest);
}

constexpr bool isNegative(uint64_t extended, ScalarFormat format) {
  return isSigned(format) && (extended >> 63) != 0;
}

// cvt{.sat}.to.from: without .sat the low bits, with it the nearest value of the destination type.
constexpr uint64_t convertInteger(uint64_t bits, ScalarFormat from, ScalarFormat to, bool sat) {
  const uint64_t value = extend(bits, from);
  if (!sat) return extend(value, to);
  const bool negative = isNegative(value, from);
  return clampedInteger(negative, negative ? uint64_t{0} - value : value, to);
}

// cvt.pack.sat.{u,s}{2,4,8,16}.s32{.b32} d, a, b{, c}: a and b clamped to `bits` bits, b in the lowest bits, a
// above it; above both the low bits of c. The form for 16 bits has no c.
constexpr uint32_t convertPack(int32_t a, int32_t b, uint32_t c, unsigned bits, bool isSignedType) {
  const int32_t largest = (int32_t{1} << (isSignedType ? bits - 1 : bits)) - 1;
  const int32_t lowest = isSignedType ? -largest - 1 : 0;
  const uint32_t mask = (uint32_t{1} << bits) - 1;
  const auto field = [&](int32_t value) {
    return static_cast<uint32_t>(value < lowest ? lowest : value > largest ? largest : value) & mask;
  };
  const uint32_t packed = field(a) << bits | field(b);
  return bits == 16 ? packed : c << (2 * bits) | packed;
}

}  // namespace ptxopt::exec
