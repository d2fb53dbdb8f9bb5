// Conversions with a floating-point source or destination, for any pair of formats, by decode and encode.
//
// Where the ISA leaves the bits of a NaN open, they follow published observations of the hardware and the machine
// code that ptxas chooses. To and from f64, the sign and the first bits of the fraction stay and the quiet bit is
// set. A conversion of a type to itself without rounding or .ftz, and bf16 to f32, moves the bits. .rna.tf32 rounds
// the fraction. Every other one gives the canonical NaN of the destination. Float to integer: NaN becomes 0, but
// the pattern 100...0 where the source is f64 or the destination has 64 bits, as the ISA says.
//
// Modifiers apply in this order: .ftz to an f32 source, rounding, .ftz to an f32 result, then .sat (to [+0, 1], NaN
// to +0) or .relu (anything with a minus sign but NaN to +0). .ftz means nothing to types other than f32.
#pragma once

#include <cstdint>

#include "exec/value/convert_format.h"
#include "exec/value/convert_integer.h"

namespace ptxopt::exec {

// The modifiers of a cvt. `rounding` serves both .rn and .rni; `toIntegral` distinguishes them.
struct ConvertMode {
  Rounding rounding = Rounding::Nearest;
  bool tiesAway = false;    // .rna
  bool toIntegral = false;  // .rni .rzi .rmi .rpi
  bool ftz = false;
  bool sat = false;
  bool relu = false;
  bool satfinite = false;

  constexpr Rounder rounder() const { return tiesAway ? Rounder(Rounder::Kind::NearestAway) : Rounder(rounding); }
};

constexpr uint64_t clampToUnit(uint64_t bits, const FloatFormat& f) {
  const uint64_t magnitude = bits & (f.signBit() - 1);
  if ((bits & f.signBit()) != 0 || magnitude > f.maxFinite + 1) return 0;
  return magnitude < f.one() ? magnitude : f.one();
}

// Zero when the sign bit of the destination is set; not for NaN.
constexpr uint64_t clampNegative(uint64_t bits, const FloatFormat& f) {
  return ((bits >> f.shift) & f.signBit()) != 0 ? 0 : bits;
}

// `bits` of f32, a subnormal number replaced by a zero of its sign.
constexpr uint64_t flushed32(uint64_t bits) { return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits; }

// The sign and the first bits of the fraction, quiet.
constexpr uint64_t quietNan(const Unpacked& nan, const FloatFormat& to) {
  return (nan.negative ? to.signBit() : 0) | (to.maxFinite + 1) | nan.significand >> (63 - to.fractionBits) |
         uint64_t{1} << (to.fractionBits - 1);
}

// cvt.rna.tf32.f32 rounds the fraction of a NaN like that of a number; where that would end as infinity, the
// canonical NaN.
constexpr uint64_t nanAwayToTf32(uint64_t bits) {
  const uint64_t rounded = ((bits & 0x7fffffff) + 0x1000) & ~uint64_t{0x1fff};
  if (rounded == 0x7f800000) return 0x7fffe000;
  return (bits & 0x80000000) | (rounded < 0x7fffe000 ? rounded : 0x7fffe000);
}

constexpr bool keepsNan(ScalarFormat from, ScalarFormat to, const ConvertMode& mode) {
  if (from == ScalarFormat::F32 && mode.ftz) return false;
  return from == ScalarFormat::F64 || to == ScalarFormat::F64;
}

// x rounded to an integer. Numbers of 2^63 and above have no fraction in any format.
constexpr Unpacked roundedToIntegral(const Unpacked& x, Rounder r) {
  if (x.kind != NumberKind::Finite || x.exponent >= 63) return x;
  return unpackedInteger(x.negative, roundedShift(x.significand, 63 - x.exponent, x.negative, r));
}

// One element by an explicit rounder: the part that .rs shares. Signs, infinities and NaN as above.
constexpr uint64_t convertUnpacked(const Unpacked& x, ScalarFormat to, Rounder r, bool relu, bool satfinite,
                                   bool flush) {
  const FloatFormat f = floatFormat(to);
  if (x.kind == NumberKind::Nan) return f.canonicalNan << f.shift;
  const uint64_t result = encode(x, f, r, satfinite, flush);
  return relu ? clampNegative(result, f) : result;
}

// Any format of floatFormat() to any.
constexpr uint64_t convertFloat(uint64_t bits, ScalarFormat from, ScalarFormat to, const ConvertMode& mode) {
  const FloatFormat source = floatFormat(from);
  const FloatFormat target = floatFormat(to);
  if (from == to && !mode.toIntegral && !mode.ftz) {  // moves the bits, but .sat may clamp them
    bits &= (target.signBit() - 1) | target.signBit();
    return mode.sat ? clampToUnit(bits, target) : bits;
  }
  if (from == ScalarFormat::BF16 && to == ScalarFormat::F32 && !mode.ftz) return (bits & 0xffff) << 16;
  if (from == ScalarFormat::F32 && mode.ftz) bits = flushed32(bits);
  Unpacked x = decode(bits, source);
  if (x.kind == NumberKind::Nan) {
    if (mode.sat) return 0;
    if (keepsNan(from, to, mode)) return quietNan(x, target);
    if (mode.tiesAway && to == ScalarFormat::TF32) return nanAwayToTf32(bits);
    return target.canonicalNan << target.shift;
  }
  if (mode.toIntegral) x = roundedToIntegral(x, mode.rounder());
  const bool flush = mode.ftz && to == ScalarFormat::F32;
  const uint64_t result = convertUnpacked(x, to, mode.rounder(), mode.relu, mode.satfinite, flush);
  return mode.sat ? clampToUnit(result, target) : result;
}

// Always clamped to the range of the destination; extended to 64 bits as in convert_integer.h.
constexpr uint64_t convertFloatToInteger(uint64_t bits, ScalarFormat from, ScalarFormat to,
                                         const ConvertMode& mode) {
  if (from == ScalarFormat::F32 && mode.ftz) bits = flushed32(bits);
  const Unpacked x = decode(bits, floatFormat(from));
  switch (x.kind) {
    case NumberKind::Zero: return 0;
    case NumberKind::Nan:
      if (from != ScalarFormat::F64 && integerBits(to) != 64) return 0;
      return extend(uint64_t{1} << (integerBits(to) - 1), to);
    case NumberKind::Infinite: return clampedInteger(x.negative, ~uint64_t{0}, to);
    case NumberKind::Finite: break;
  }
  if (x.exponent >= 64) return clampedInteger(x.negative, ~uint64_t{0}, to);
  return clampedInteger(x.negative, roundedShift(x.significand, 63 - x.exponent, x.negative, mode.rounder()), to);
}

constexpr uint64_t convertIntegerToFloat(uint64_t bits, ScalarFormat from, ScalarFormat to,
                                         const ConvertMode& mode) {
  const FloatFormat target = floatFormat(to);
  const uint64_t value = extend(bits, from);
  const bool negative = isNegative(value, from);
  const Unpacked x = unpackedInteger(negative, negative ? uint64_t{0} - value : value);
  const uint64_t result = encode(x, target, mode.rounder());
  return mode.sat ? clampToUnit(result, target) : result;
}

}  // namespace ptxopt::exec
