// The floating-point formats of PTX registers as bit patterns: f16, bf16, f32, f64.
//
// A format is a template argument of the functions in this folder that work on bits alone (sign, order, class of a
// value), so that one definition serves all four. NaN results: f32 arithmetic gives 0x7fffffff, f16 and bf16
// 0x7fff. For f64 the ISA names no pattern: here an operation on NaNs gives the first NaN operand, made quiet, and
// an invalid operation on numbers gives 0xfff8000000000000.
//
// .ftz: a subnormal operand or result becomes a zero of its sign. Whether a result is subnormal is asked of the
// rounded result: a value just below the least normal number that rounds up to it stays.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace ptxopt::exec {

template <class WordType, int kExponentWidth, int kMantissaWidth, WordType kNaNPattern>
struct IeeeFormat {
  using Word = WordType;
  using Signed = std::make_signed_t<Word>;

  static constexpr int kBits = static_cast<int>(sizeof(Word) * 8);
  static constexpr int kExponentBits = kExponentWidth;
  static constexpr int kMantissaBits = kMantissaWidth;                    // without the implicit bit
  static constexpr int kLeastExponent = 2 - (1 << (kExponentWidth - 1));  // of normal numbers

  static constexpr Word kSign = static_cast<Word>(Word{1} << (kBits - 1));
  static constexpr Word kMagnitude = static_cast<Word>(kSign - 1);
  static constexpr Word kMantissa = static_cast<Word>((Word{1} << kMantissaBits) - 1);
  static constexpr Word kInfinity = static_cast<Word>(kMagnitude & ~kMantissa);
  static constexpr Word kLargest = static_cast<Word>(kInfinity - 1);
  static constexpr Word kLeastNormal = static_cast<Word>(Word{1} << kMantissaBits);
  static constexpr Word kQuiet = static_cast<Word>(Word{1} << (kMantissaBits - 1));
  static constexpr Word kNaN = kNaNPattern;  // what an invalid operation gives

  static constexpr bool isNaN(Word x) { return static_cast<Word>(x & kMagnitude) > kInfinity; }
  static constexpr bool isInfinite(Word x) { return static_cast<Word>(x & kMagnitude) == kInfinity; }
  static constexpr bool isFinite(Word x) { return static_cast<Word>(x & kMagnitude) < kInfinity; }
  static constexpr bool isZero(Word x) { return static_cast<Word>(x & kMagnitude) == 0; }
  static constexpr bool isSubnormal(Word x) {
    return static_cast<Word>((x & kMagnitude) - 1) < static_cast<Word>(kLeastNormal - 1);
  }
  static constexpr bool isNegative(Word x) { return (x & kSign) != 0; }
  static constexpr Word flush(Word x) {
    return static_cast<Word>(x & kMagnitude) < kLeastNormal ? static_cast<Word>(x & kSign) : x;
  }
};

using F16 = IeeeFormat<uint16_t, 5, 10, 0x7fff>;
using Bf16 = IeeeFormat<uint16_t, 8, 7, 0x7fff>;
using F32 = IeeeFormat<uint32_t, 8, 23, 0x7fffffff>;
using F64 = IeeeFormat<uint64_t, 11, 52, 0xfff8000000000000>;

inline constexpr bool isNaN(float x) { return x != x; }
inline constexpr bool isNaN(double x) { return x != x; }

// f32: any NaN becomes the canonical one. A plain comparison and a select, so that loops over lanes vectorize.
inline float canonical(float x) { return x == x ? x : std::bit_cast<float>(F32::kNaN); }

inline float flushSubnormal(float x) { return std::bit_cast<float>(F32::flush(std::bit_cast<uint32_t>(x))); }

// .sat: into [0, 1]; NaN and -0 become +0.
inline float saturate(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

inline double quieted(double x) { return std::bit_cast<double>(std::bit_cast<uint64_t>(x) | F64::kQuiet); }

// f64: what an operation with these operands gives when its result is NaN.
inline double nanResult(double a) { return isNaN(a) ? quieted(a) : std::bit_cast<double>(F64::kNaN); }
inline double nanResult(double a, double b) { return isNaN(a) ? quieted(a) : nanResult(b); }
inline double nanResult(double a, double b, double c) { return isNaN(a) ? quieted(a) : nanResult(b, c); }

}  // namespace ptxopt::exec
