// Binary floating-point formats of PTX, as data, with one exact decoder and one correctly rounding encoder for all.
//
// A format is sign, exponent and fraction fields with a bias, in the manner of IEEE 754; the small ones differ only
// in what stands above the largest finite number (infinity and NaN: f16, bf16, f32, f64, tf32, e5m2; one NaN: e4m3;
// nothing: e2m3, e3m2, e2m1). Sources: PTX ISA 9.0, "Alternate Floating-Point Data Formats"; OCP 8-bit and MX
// formats. ue8m0 has no sign, no zero and no fraction and is not described by this table: see convert_narrow.h.
//
// Decoding is exact: a finite number is significand * 2^(exponent - 63) with bit 63 of the significand set.
// Encoding rounds it once, so every conversion is decode, then encode, and no conversion rounds twice.
#pragma once

#include <bit>
#include <cstdint>

#include "exec/value/rounding.h"

namespace ptxopt::exec {

// Types of values that cvt knows; the order is that of the tables below.
enum class ScalarFormat : uint8_t {
  U8,
  S8,
  U16,
  S16,
  U32,
  S32,
  U64,
  S64,  // clang-format off
  F16, BF16, F32, F64, TF32,
  E4M3, E5M2, E2M3, E3M2, E2M1, UE8M0,  // clang-format on
};
inline constexpr unsigned kScalarFormats = 19;

constexpr bool isInteger(ScalarFormat format) { return format <= ScalarFormat::S64; }
constexpr bool isSigned(ScalarFormat format) {
  return isInteger(format) && (static_cast<unsigned>(format) & 1) != 0;
}
// Bits of an integer format.
constexpr unsigned integerBits(ScalarFormat format) { return 8u << (static_cast<unsigned>(format) / 2); }
// The four that scalar cvt takes both as source and as destination.
constexpr bool isWideFloat(ScalarFormat format) {
  return format >= ScalarFormat::F16 && format <= ScalarFormat::F64;
}
// fp8, fp6 and fp4 (not ue8m0).
constexpr bool isNarrowFloat(ScalarFormat format) {
  return format >= ScalarFormat::E4M3 && format <= ScalarFormat::E2M1;
}

struct FloatFormat {
  unsigned width;         // sign, exponent and fraction
  unsigned fractionBits;  // stored bits of the significand
  int bias;
  unsigned shift;         // zero bits below the number in its register: 13 for tf32, otherwise 0
  bool hasInfinity;       // its code is maxFinite + 1
  uint64_t maxFinite;     // code without the sign
  uint64_t canonicalNan;  // what a NaN becomes: where the format has none, the largest number
  constexpr uint64_t signBit() const { return uint64_t{1} << (width - 1); }
  constexpr uint64_t fractionMask() const { return (uint64_t{1} << fractionBits) - 1; }
  constexpr uint64_t one() const { return static_cast<uint64_t>(bias) << fractionBits; }
  constexpr int smallestExponent() const { return 1 - bias; }  // of normal numbers
};

// The canonical NaN of f64 is that of f32 widened: what cvt.ftz.f64.f32 gives.
constexpr FloatFormat floatFormat(ScalarFormat format) {
  switch (format) {
    case ScalarFormat::F16: return {16, 10, 15, 0, true, 0x7bff, 0x7fff};
    case ScalarFormat::BF16: return {16, 7, 127, 0, true, 0x7f7f, 0x7fff};
    case ScalarFormat::F32: return {32, 23, 127, 0, true, 0x7f7fffff, 0x7fffffff};
    case ScalarFormat::F64: return {64, 52, 1023, 0, true, 0x7fefffffffffffff, 0x7fffffffe0000000};
    case ScalarFormat::TF32: return {19, 10, 127, 13, true, 0x3fbff, 0x3ffff};
    case ScalarFormat::E4M3: return {8, 3, 7, 0, false, 0x7e, 0x7f};
    case ScalarFormat::E5M2: return {8, 2, 15, 0, true, 0x7b, 0x7f};
    case ScalarFormat::E2M3: return {6, 3, 1, 0, false, 0x1f, 0x1f};
    case ScalarFormat::E3M2: return {6, 2, 3, 0, false, 0x1f, 0x1f};
    case ScalarFormat::E2M1: return {4, 1, 1, 0, false, 0x7, 0x7};
    default: return {};
  }
}

enum class NumberKind : uint8_t { Zero, Finite, Infinite, Nan };

// A number taken apart. For a NaN, the significand holds the fraction, its first bit (the quiet bit) at bit 62.
struct Unpacked {
  NumberKind kind;
  bool negative;
  int exponent;
  uint64_t significand;
};

// `magnitude` * 2^`scale`, normalised.
constexpr Unpacked unpackedInteger(bool negative, uint64_t magnitude, int scale = 0) {
  if (magnitude == 0) return {NumberKind::Zero, negative, 0, 0};
  const int zeros = std::countl_zero(magnitude);
  return {NumberKind::Finite, negative, 63 - zeros + scale, magnitude << zeros};
}

// Bits above the format's width are ignored.
constexpr Unpacked decode(uint64_t bits, const FloatFormat& f) {
  bits >>= f.shift;
  const bool negative = (bits & f.signBit()) != 0;
  const uint64_t magnitude = bits & (f.signBit() - 1);
  const uint64_t fraction = magnitude & f.fractionMask();
  if (magnitude > f.maxFinite) {
    if (f.hasInfinity && magnitude == f.maxFinite + 1) return {NumberKind::Infinite, negative, 0, 0};
    return {NumberKind::Nan, negative, 0, fraction << (63 - f.fractionBits)};
  }
  const int exponent = static_cast<int>(magnitude >> f.fractionBits);
  if (exponent == 0)
    return unpackedInteger(negative, fraction, f.smallestExponent() - static_cast<int>(f.fractionBits));
  return {NumberKind::Finite, negative, exponent - f.bias,
          (fraction | (uint64_t{1} << f.fractionBits)) << (63 - f.fractionBits)};
}

// The ways to round to a format, with the two modes that only cvt has. Stochastic adds `randomBits` random bits to the first of the
// bits that are cut off and rounds away from zero on a carry (.rs).
struct Rounder {
  enum class Kind : uint8_t { Nearest, Zero, Down, Up, NearestAway, Stochastic };
  Kind kind = Kind::Nearest;
  uint8_t randomBits = 0;
  uint32_t random = 0;

  constexpr Rounder() = default;
  constexpr Rounder(Kind k) : kind(k) {}                         // NOLINT: meant to convert
  constexpr Rounder(Rounding r) : kind(static_cast<Kind>(r)) {}  // NOLINT: likewise
  static constexpr Rounder stochastic(uint32_t random, uint8_t randomBits) {
    Rounder r(Kind::Stochastic);
    r.random = random;
    r.randomBits = randomBits;
    return r;
  }
};
static_assert(static_cast<int>(Rounder::Kind::Up) == static_cast<int>(Rounding::Up) &&
              static_cast<int>(Rounder::Kind::Down) == static_cast<int>(Rounding::Down) &&
              static_cast<int>(Rounder::Kind::Zero) == static_cast<int>(Rounding::Zero));

// significand / 2^drop, rounded to an integer. Bit 63 of the significand is set; drop >= 0, of any size.
constexpr uint64_t roundedShift(uint64_t significand, int drop, bool negative, Rounder r) {
  if (drop == 0) return significand;
  const uint64_t kept = drop < 64 ? significand >> drop : 0;
  // What is cut off, as a fraction of 2^64. Bits below that decide nothing, since the leading bit of the
  // significand is never below: cut is zero only where nothing is cut off, and one half only where that is exact.
  const uint64_t cut = drop < 64 ? significand << (64 - drop) : drop < 128 ? significand >> (drop - 64) : 1;
  constexpr uint64_t kHalf = uint64_t{1} << 63;
  bool up = false;
  switch (r.kind) {
    case Rounder::Kind::Nearest: up = cut > kHalf || (cut == kHalf && (kept & 1) != 0); break;
    case Rounder::Kind::Zero: break;
    case Rounder::Kind::Down: up = negative && cut != 0; break;
    case Rounder::Kind::Up: up = !negative && cut != 0; break;
    case Rounder::Kind::NearestAway: up = cut >= kHalf; break;
    case Rounder::Kind::Stochastic:
      up = cut + (static_cast<uint64_t>(r.random) << (64 - r.randomBits)) < cut;
      break;
  }
  return kept + (up ? 1 : 0);
}

// What a number too large becomes: without the sign.
constexpr uint64_t overflow(const FloatFormat& f, bool negative, Rounder r, bool satfinite) {
  const bool towardsZero = r.kind == Rounder::Kind::Zero || (r.kind == Rounder::Kind::Down && !negative) ||
                           (r.kind == Rounder::Kind::Up && negative);
  return satfinite || towardsZero || !f.hasInfinity ? f.maxFinite : f.maxFinite + 1;
}

// The nearest code by the rules of `r`. Not for NaN, which has rules of its own (convert_float.h). With
// `satfinite`, and in formats without infinity, what is too large becomes the largest number. With `flush`, a
// result below the normal numbers becomes zero; whether it is below is decided after rounding as if the exponent
// had no limit.
constexpr uint64_t encode(const Unpacked& x, const FloatFormat& f, Rounder r, bool satfinite = false,
                          bool flush = false) {
  const uint64_t sign = x.negative ? f.signBit() : 0;
  if (x.kind == NumberKind::Zero) return sign << f.shift;
  if (x.kind == NumberKind::Infinite)
    return (sign | (satfinite || !f.hasInfinity ? f.maxFinite : f.maxFinite + 1)) << f.shift;
  const int normalDrop = 63 - static_cast<int>(f.fractionBits);
  const int smallest = f.smallestExponent();
  if (flush && x.exponent < smallest) {
    const bool becomesNormal =
        x.exponent == smallest - 1 &&
        (roundedShift(x.significand, normalDrop, x.negative, r) >> (f.fractionBits + 1)) != 0;
    return (sign | (becomesNormal ? uint64_t{1} << f.fractionBits : 0)) << f.shift;
  }
  const bool subnormal = x.exponent < smallest;
  const int drop = subnormal ? normalDrop + (smallest - x.exponent) : normalDrop;
  const uint64_t base = subnormal ? 0 : static_cast<uint64_t>(x.exponent - smallest);
  // The leading bit of a normal number adds one to the exponent field, as does a carry out of the rounding.
  uint64_t code = (base << f.fractionBits) + roundedShift(x.significand, drop, x.negative, r);
  if (code > f.maxFinite) code = overflow(f, x.negative, r, satfinite);
  return (sign | code) << f.shift;
}

}  // namespace ptxopt::exec
