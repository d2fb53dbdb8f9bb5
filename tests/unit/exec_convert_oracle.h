// What the tests of conversions compare with: values as long double or MPFR numbers, codes found by search. Shares
// nothing with src/execute/exec but the names of the formats.
#pragma once

#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "exec/value/convert.h"

namespace convert_oracle {

using ptxopt::exec::ConvertMode;
using ptxopt::exec::Rounding;
using ptxopt::exec::ScalarFormat;
using F = ScalarFormat;

inline const std::vector<Rounding> kRoundings = {Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up};

struct Shape {
  int bits, exponentBits, fractionBits, bias;
  bool ieee;  // the largest exponent is for infinity and NaN
};
inline Shape shape(F f) {
  switch (f) {
    case F::F16: return {16, 5, 10, 15, true};
    case F::BF16: return {16, 8, 7, 127, true};
    case F::F32: return {32, 8, 23, 127, true};
    case F::F64: return {64, 11, 52, 1023, true};
    case F::E4M3: return {8, 4, 3, 7, false};
    case F::E5M2: return {8, 5, 2, 15, true};
    case F::E2M3: return {6, 2, 3, 1, false};
    case F::E3M2: return {6, 3, 2, 3, false};
    case F::E2M1: return {4, 2, 1, 1, false};
    default: return {};
  }
}

// x86's long double holds every value of every format exactly.
inline long double value(uint64_t bits, F f) {
  const Shape s = shape(f);
  const uint64_t fraction = bits & ((uint64_t{1} << s.fractionBits) - 1);
  const int exponent = static_cast<int>(bits >> s.fractionBits & ((1u << s.exponentBits) - 1));
  const bool negative = (bits >> (s.bits - 1) & 1) != 0;
  const int last = (1 << s.exponentBits) - 1;
  long double magnitude;
  if (s.ieee && exponent == last) {
    magnitude = fraction != 0 ? std::numeric_limits<long double>::quiet_NaN()
                              : std::numeric_limits<long double>::infinity();
  } else if (f == F::E4M3 && (bits & 0x7f) == 0x7f) {
    magnitude = std::numeric_limits<long double>::quiet_NaN();
  } else {
    const auto digits = static_cast<long double>(fraction);
    const auto unit = static_cast<long double>(uint64_t{1} << s.fractionBits);
    magnitude =
        exponent == 0 ? std::ldexp(digits / unit, 1 - s.bias) : std::ldexp(1 + digits / unit, exponent - s.bias);
  }
  return negative ? -magnitude : magnitude;
}

// The code of a number that the format has.
inline uint64_t code(long double x, F f) {
  const Shape s = shape(f);
  const uint64_t sign = std::signbit(x) ? uint64_t{1} << (s.bits - 1) : 0;
  const long double magnitude = std::fabs(x);
  const uint64_t last = (uint64_t{1} << s.exponentBits) - 1;
  if (std::isinf(magnitude)) return sign | last << s.fractionBits;
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), 1 - s.bias);
  const auto digits = static_cast<uint64_t>(std::ldexp(magnitude, s.fractionBits - exponent));
  const uint64_t hidden = uint64_t{1} << s.fractionBits;
  if (digits < hidden) return sign | digits;
  return sign | static_cast<uint64_t>(exponent + s.bias) << s.fractionBits | (digits - hidden);
}

inline mpfr_rnd_t mpfrRounding(Rounding r) {
  switch (r) {
    case Rounding::Nearest: return MPFR_RNDN;
    case Rounding::Zero: return MPFR_RNDZ;
    case Rounding::Down: return MPFR_RNDD;
    case Rounding::Up: return MPFR_RNDU;
  }
  return MPFR_RNDN;
}

// Rounding by MPFR. One object per test: it keeps its variables and the default exponent range.
class Mpfr {
 public:
  Mpfr() : emin_(mpfr_get_emin()), emax_(mpfr_get_emax()) { mpfr_init2(exact_, 64); }
  ~Mpfr() { mpfr_clear(exact_); }
  Mpfr(const Mpfr&) = delete;
  Mpfr& operator=(const Mpfr&) = delete;

  // x (finite or infinite) rounded to an IEEE format, as bits.
  uint64_t rounded(long double x, F f, Rounding r) {
    const Shape s = shape(f);
    mpfr_set_ld(exact_, x, MPFR_RNDN);
    mpfr_t result;
    mpfr_init2(result, s.fractionBits + 1);
    int ternary = mpfr_set(result, exact_, mpfrRounding(r));
    mpfr_set_emin(2 - s.bias - s.fractionBits);
    mpfr_set_emax(s.bias + 1);
    ternary = mpfr_check_range(result, ternary, mpfrRounding(r));
    mpfr_subnormalize(result, ternary, mpfrRounding(r));
    mpfr_set_emin(emin_);
    mpfr_set_emax(emax_);
    const uint64_t bits = code(mpfr_get_ld(result, MPFR_RNDN), f);
    mpfr_clear(result);
    return bits;
  }

  // x rounded to an integer.
  long double integral(long double x, Rounding r) {
    mpfr_set_ld(exact_, x, MPFR_RNDN);
    mpfr_t result;
    mpfr_init2(result, 64);
    if (r == Rounding::Nearest) mpfr_roundeven(result, exact_);
    if (r == Rounding::Zero) mpfr_trunc(result, exact_);
    if (r == Rounding::Down) mpfr_floor(result, exact_);
    if (r == Rounding::Up) mpfr_ceil(result, exact_);
    const long double y = mpfr_get_ld(result, MPFR_RNDN);
    mpfr_clear(result);
    return y;
  }

 private:
  mpfr_exp_t emin_, emax_;
  mpfr_t exact_;
};

inline bool isNan(uint64_t bits, F f) { return std::isnan(value(bits, f)); }

// Bit patterns of a format worth trying: every exponent with edge fractions, ties of narrower formats, random ones.
// For 16 bits and less, every pattern.
inline std::vector<uint64_t> patterns(F f, unsigned randoms) {
  std::vector<uint64_t> result;
  const Shape s = shape(f);
  if (s.bits <= 16) {
    for (uint64_t x = 0; x < uint64_t{1} << s.bits; ++x) result.push_back(x);
    return result;
  }
  std::mt19937_64 engine(20250901);
  const uint64_t fractionMask = (uint64_t{1} << s.fractionBits) - 1;
  const uint64_t exponents = uint64_t{1} << s.exponentBits;
  const auto add = [&](uint64_t exponent, uint64_t fraction) {
    const uint64_t magnitude = exponent << s.fractionBits | (fraction & fractionMask);
    result.push_back(magnitude);
    result.push_back(magnitude | uint64_t{1} << (s.bits - 1));
  };
  for (uint64_t e = 0; e < exponents; e += f == F::F64 && (e < 860 || e > 1160) && e > 2 && e < 2016 ? 31 : 1) {
    for (uint64_t fraction : {uint64_t{0}, uint64_t{1}, fractionMask, fractionMask - 1}) add(e, fraction);
    // One bit, a tie (bit k set behind an odd or even prefix), and one beside the tie.
    const int k = static_cast<int>(engine() % static_cast<uint64_t>(s.fractionBits));
    const uint64_t prefix = engine() & fractionMask & ~((uint64_t{2} << k) - 1);
    for (uint64_t low : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) add(e, (prefix | uint64_t{1} << k) + low);
    add(e, uint64_t{1} << k);
  }
  for (unsigned i = 0; i < randoms; ++i) {
    result.push_back(s.bits == 64 ? engine() : engine() & 0xffffffff);
    // Near 1 to 2^64, where integers are.
    const uint64_t exponent = static_cast<uint64_t>(s.bias) - 2 + engine() % 70;
    add(exponent, engine());
  }
  return result;
}

// Bit patterns of an integer type.
inline std::vector<uint64_t> integerPatterns(unsigned bits, unsigned randoms) {
  std::vector<uint64_t> result;
  if (bits == 8) {
    for (uint64_t x = 0; x < 256; ++x) result.push_back(x);
    return result;
  }
  std::mt19937_64 engine(7);
  const uint64_t mask = ~uint64_t{0} >> (64 - bits);
  for (unsigned k = 0; k < bits; ++k)
    for (uint64_t d : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
      result.push_back(((uint64_t{1} << k) + d) & mask);
      result.push_back((~(uint64_t{1} << k) + 1 + d) & mask);
    }
  for (unsigned i = 0; i < randoms; ++i) {
    const uint64_t x = (engine() & mask) >> (engine() % bits);
    result.push_back(x);
    result.push_back(-x & mask);
    result.push_back((x & (x - 1)) & mask);
    // A tie of some narrower significand.
    result.push_back((x & ~((uint64_t{1} << (engine() % bits)) - 1)) & mask);
  }
  return result;
}

// The first difference of a group, so that one check serves a million cases.
struct Differences {
  uint64_t count = 0, cases = 0, input = 0, got = 0, expected = 0;
  void compare(uint64_t in, uint64_t result, uint64_t wanted) {
    ++cases;
    if (result == wanted) return;
    if (count++ == 0) {
      input = in;
      got = result;
      expected = wanted;
    }
  }
};

}  // namespace convert_oracle

// Fails with the first difference.
#define CHECK_NO_DIFFERENCES(d) \
  do {                          \
    CAPTURE((d).input);         \
    CAPTURE((d).got);           \
    CAPTURE((d).expected);      \
    CHECK((d).cases > 0);       \
    CHECK((d).count == 0);      \
  } while (false)
