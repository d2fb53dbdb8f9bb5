// f16 and bf16: exact widening, and one correctly rounded narrowing from f64.
//
// Half-precision arithmetic is done in f64 with the result rounded to odd (float_nearest.h) and then narrowed once:
// 53 bits are more than two more than any narrower format has, so the second rounding gives what a single rounding
// of the exact value would, in every direction and for subnormal results too.
#pragma once

#include <bit>
#include <cstdint>

#include "exec/value/float_format.h"
#include "exec/value/rounding.h"

namespace ptxopt::exec {

// Exact; NaN keeps sign and payload.
template <class Format>
inline float widen(uint16_t x) {
  if constexpr (Format::kExponentBits == F32::kExponentBits) {
    return std::bit_cast<float>(static_cast<uint32_t>(x) << 16);
  } else {
    // The exponent is rebased by a product, which also normalizes subnormals; that of infinities and NaNs is put
    // right. The product stands outside of any condition, for the sake of vectorization.
    const uint32_t magnitude = x & 0x7fffu;
    const uint32_t number = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112f);
    const uint32_t bits = number | (magnitude >= F16::kInfinity ? F32::kInfinity : 0u);
    return std::bit_cast<float>(bits | (static_cast<uint32_t>(x & 0x8000u) << 16));
  }
}

// `x` rounded to Format. NaN becomes Format::kNaN. A value beyond the largest number becomes infinity, or the
// largest number where the direction points there.
template <class Format>
inline typename Format::Word roundTo(double x, Rounding rounding) {
  using Word = typename Format::Word;
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const bool negative = F64::isNegative(bits);
  const Word sign = negative ? Format::kSign : Word{0};
  const uint64_t magnitude = bits & F64::kMagnitude;
  if (magnitude > F64::kInfinity) return Format::kNaN;
  if (magnitude == F64::kInfinity) return static_cast<Word>(sign | Format::kInfinity);
  if (magnitude == 0) return sign;

  const int field = static_cast<int>(magnitude >> F64::kMantissaBits);
  const uint64_t mantissa = magnitude & F64::kMantissa;
  const int exponent = field == 0 ? F64::kLeastExponent : field - 1 + F64::kLeastExponent;
  const uint64_t significand = field == 0 ? mantissa : mantissa | (uint64_t{1} << F64::kMantissaBits);
  int shift = F64::kMantissaBits - Format::kMantissaBits;
  uint64_t upper = 0;  // exponent field, less the one that the implicit bit of `kept` adds
  if (exponent < Format::kLeastExponent) {
    shift += Format::kLeastExponent - exponent;
    if (shift > F64::kMantissaBits + 2) shift = F64::kMantissaBits + 2;
  } else {
    upper = static_cast<uint64_t>(exponent - Format::kLeastExponent) << Format::kMantissaBits;
  }
  const uint64_t kept = significand >> shift;
  const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  bool away = false;  // from zero
  switch (rounding) {
    case Rounding::Nearest: away = rest > half || (rest == half && (kept & 1) != 0); break;
    case Rounding::Zero: break;
    case Rounding::Down: away = negative && rest != 0; break;
    case Rounding::Up: away = !negative && rest != 0; break;
  }
  const uint64_t result = upper + kept + (away ? 1 : 0);
  if (result >= Format::kInfinity) {
    const bool toInfinity = rounding == Rounding::Nearest || (rounding == Rounding::Down && negative) ||
                            (rounding == Rounding::Up && !negative);
    return static_cast<Word>(sign | (toInfinity ? Format::kInfinity : Format::kLargest));
  }
  return static_cast<Word>(sign | static_cast<Word>(result));
}

// roundTo<Format>(x, Rounding::Nearest) for f16 and bf16, faster: adding a power of two whose unit in the
// last place is that of the result makes the processor round to it.
template <class Format>
inline uint16_t roundToNearest(double x) {
  constexpr bool kIsF16 = Format::kExponentBits == F16::kExponentBits;
  constexpr double kLimit = kIsF16 ? 0x1p16 : 0x1p128;  // the least number of infinity's exponent
  constexpr double kLeastNormal = kIsF16 ? 0x1p-14 : 0x1p-126;
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const double absolute = std::bit_cast<double>(bits & F64::kMagnitude);
  const double magnitude = absolute < kLimit ? absolute : kLimit;
  const double normal = magnitude < kLeastNormal ? kLeastNormal : magnitude;
  const double shift = std::bit_cast<double>(
      (std::bit_cast<uint64_t>(normal) & F64::kInfinity) +
      (static_cast<uint64_t>(F64::kMantissaBits - Format::kMantissaBits) << F64::kMantissaBits));
  const float rounded = static_cast<float>((magnitude + shift) - shift);  // exact, or infinity
  const uint32_t number =
      kIsF16 ? std::bit_cast<uint32_t>(rounded * 0x1p-112f) >> 13 : std::bit_cast<uint32_t>(rounded) >> 16;
  const uint32_t sign = static_cast<uint32_t>(bits >> 48) & Format::kSign;
  return static_cast<uint16_t>(isNaN(x) ? Format::kNaN : number | sign);
}

}  // namespace ptxopt::exec
