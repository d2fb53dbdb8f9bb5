// What the tests of the interpreter's floating point compare with: MPFR, which rounds every operation once, in any
// direction, to any precision and exponent range, subnormal results included.
#pragma once

#include <mpfr.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "exec/value/float_format.h"
#include "exec/value/rounding.h"

namespace ptxopt::testing {

inline constexpr exec::Rounding kRoundings[] = {exec::Rounding::Nearest, exec::Rounding::Zero, exec::Rounding::Down,
                                                exec::Rounding::Up};

// PTXOPT_TEST_SCALE multiplies the number of random cases.
inline int cases(int count) {
  const char* scale = std::getenv("PTXOPT_TEST_SCALE");
  return count * (scale != nullptr ? std::max(1, std::atoi(scale)) : 1);
}

class Mpfr {
 public:
  explicit Mpfr(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  Mpfr(mpfr_prec_t precision, double x) : Mpfr(precision) { mpfr_set_d(value_, x, MPFR_RNDN); }
  ~Mpfr() { mpfr_clear(value_); }
  Mpfr(const Mpfr&) = delete;
  Mpfr& operator=(const Mpfr&) = delete;
  operator mpfr_ptr() { return value_; }
  operator mpfr_srcptr() const { return value_; }

 private:
  mpfr_t value_;
};

// The value of a bit pattern, exactly.
template <class Format>
double decode(typename Format::Word x) {
  const double mantissa = static_cast<double>(x & Format::kMantissa);
  const int field = static_cast<int>((x & Format::kMagnitude) >> Format::kMantissaBits);
  double magnitude;
  if (field == (1 << Format::kExponentBits) - 1)
    magnitude = mantissa != 0 ? NAN : INFINITY;
  else if (field == 0)
    magnitude = std::ldexp(mantissa, Format::kLeastExponent - Format::kMantissaBits);
  else
    magnitude = std::ldexp(mantissa + std::ldexp(1.0, Format::kMantissaBits),
                           Format::kLeastExponent - Format::kMantissaBits + field - 1);
  return Format::isNegative(x) ? -magnitude : magnitude;
}

// The bit pattern of a value that the format has.
template <class Format>
typename Format::Word encode(double x) {
  using Word = typename Format::Word;
  if (std::isnan(x)) return Format::kNaN;
  const Word sign = std::signbit(x) ? Format::kSign : Word{0};
  x = std::fabs(x);
  if (std::isinf(x)) return static_cast<Word>(sign | Format::kInfinity);
  if (x == 0) return sign;
  const int exponent = std::max(std::ilogb(x), Format::kLeastExponent);
  const auto significand = static_cast<uint64_t>(std::ldexp(x, Format::kMantissaBits - exponent));
  const auto field = static_cast<uint64_t>(exponent - Format::kLeastExponent);
  return static_cast<Word>(sign | ((field << Format::kMantissaBits) + significand));
}

enum class FloatOp { Add, Sub, Mul, Fma, Div, Sqrt };

// Rounded once to Format; Format::kNaN for NaN.
template <class Format>
typename Format::Word reference(FloatOp op, double a, double b, double c, exec::Rounding rounding) {
  static Mpfr x(53), y(53), z(53), r(Format::kMantissaBits + 1);
  const mpfr_rnd_t rnd = std::array{MPFR_RNDN, MPFR_RNDZ, MPFR_RNDD, MPFR_RNDU}[static_cast<std::size_t>(rounding)];
  mpfr_set_d(x, a, MPFR_RNDN);
  mpfr_set_d(y, b, MPFR_RNDN);
  mpfr_set_d(z, c, MPFR_RNDN);
  const mpfr_exp_t least = mpfr_get_emin(), largest = mpfr_get_emax();
  mpfr_set_emin(Format::kLeastExponent - Format::kMantissaBits + 1);
  mpfr_set_emax(2 - Format::kLeastExponent);
  int t = 0;
  switch (op) {
    case FloatOp::Add: t = mpfr_add(r, x, y, rnd); break;
    case FloatOp::Sub: t = mpfr_sub(r, x, y, rnd); break;
    case FloatOp::Mul: t = mpfr_mul(r, x, y, rnd); break;
    case FloatOp::Fma: t = mpfr_fma(r, x, y, z, rnd); break;
    case FloatOp::Div: t = mpfr_div(r, x, y, rnd); break;
    case FloatOp::Sqrt: t = mpfr_sqrt(r, x, rnd); break;
  }
  mpfr_subnormalize(r, t, rnd);
  mpfr_set_emin(least);
  mpfr_set_emax(largest);
  return encode<Format>(mpfr_get_d(r, MPFR_RNDN));
}

// Bit patterns at which arithmetic goes wrong: the ends of the ranges, their neighbours, NaNs of both kinds.
template <class Format>
std::vector<typename Format::Word> edges() {
  using Word = typename Format::Word;
  std::vector<Word> all;
  const Word one = encode<Format>(1.0);
  const auto near = [&](Word x) {
    for (int d = -1; d <= 1; ++d) all.push_back(static_cast<Word>((x + static_cast<Word>(d)) & Format::kMagnitude));
  };
  near(1);
  near(Format::kLeastNormal);
  near(static_cast<Word>(Format::kLeastNormal * 2));
  near(static_cast<Word>(Format::kLeastNormal / 2));
  near(one);
  near(static_cast<Word>(one + Format::kLeastNormal));
  near(static_cast<Word>(one - Format::kLeastNormal));
  near(static_cast<Word>(one + Format::kQuiet));
  near(static_cast<Word>(Format::kInfinity - Format::kLeastNormal));
  near(Format::kInfinity);
  all.push_back(Format::kQuiet | Format::kInfinity);
  all.push_back(static_cast<Word>((Format::kQuiet | Format::kInfinity) + 5));
  all.push_back(Format::kMagnitude);
  const std::size_t count = all.size();
  for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<Word>(all[i] | Format::kSign));
  return all;
}

// Random bit patterns: any, near each other's exponent, few significant bits (ties), subnormal, edges.
template <class Format>
class Operands {
 public:
  using Word = typename Format::Word;
  explicit Operands(uint64_t seed) : random_(seed), edges_(edges<Format>()) {}

  Word next() {
    const uint64_t r = random_();
    const Word any = static_cast<Word>(random_());
    switch (r % 8) {
      case 0: return edges_[static_cast<std::size_t>((r >> 8) % edges_.size())];
      case 1: return static_cast<Word>(any & (Format::kSign | Format::kMantissa));  // zero exponent
      case 2: {                                                                     // few bits
        const Word keep = static_cast<Word>(~Word{0} << ((r >> 8) % static_cast<unsigned>(Format::kMantissaBits)));
        return static_cast<Word>(any & keep);
      }
      case 3:
      case 4: {  // exponent like the last one's
        const Word near = static_cast<Word>((last_ & Format::kInfinity) + ((r >> 8) % 5) * Format::kLeastNormal -
                                            2 * Format::kLeastNormal);
        return last_ = static_cast<Word>((any & (Format::kSign | Format::kMantissa)) | (near & Format::kInfinity));
      }
      default: return last_ = any;
    }
  }

 private:
  std::mt19937_64 random_;
  std::vector<Word> edges_;
  Word last_ = 0;
};

}  // namespace ptxopt::testing
