// Arguments are reduced to where a Taylor series converges fast. The reduction takes the whole part for 2^x, the
// exponent for log2, and Payne and Hanek's method with 256 bits of 2/pi for sine and cosine.
#include "exec/value/elementary.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include "exec/value/float_format.h"
#include "support/int128.h"

namespace ptxopt::exec {
namespace {

constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kHalfPi = 0x1.921fb54442d18p+0;

// c[0] + c[1] x + c[2] x^2 + ...
template <std::size_t kCount>
double polynomial(const double (&c)[kCount], double x) {
  double r = c[kCount - 1];
  for (std::size_t i = kCount - 1; i-- > 0;) r = r * x + c[i];
  return r;
}

// Taylor series: the arguments are reduced to where they converge fast.
constexpr double kExp[] = {
    1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
    1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
// sin(x) / x and cos(x), in x^2.
constexpr double kSin[] = {1.0,
                           -1.0 / 6,
                           1.0 / 120,
                           -1.0 / 5040,
                           1.0 / 362880,
                           -1.0 / 39916800,
                           1.0 / 6227020800,
                           -1.0 / 1307674368000,
                           1.0 / 355687428096000};
constexpr double kCos[] = {1.0,
                           -1.0 / 2,
                           1.0 / 24,
                           -1.0 / 720,
                           1.0 / 40320,
                           -1.0 / 3628800,
                           1.0 / 479001600,
                           -1.0 / 87178291200,
                           1.0 / 20922789888000,
                           -1.0 / 6402373705728000};
// atanh(x) / x, in x^2.
constexpr double kAtanh[] = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                             1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23};
// tanh(x) / x, in x^2.
constexpr double kTanh[] = {1.0, -1.0 / 3, 2.0 / 15, -17.0 / 315, 62.0 / 2835};

// 2/pi in units of 2^-256, the highest word first.
constexpr uint64_t kTwoOverPi[] = {0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561};

// x = (quadrant + 4 n) pi/2 + rest, rest within pi/4 of zero.
struct Reduced {
  unsigned quadrant;
  double rest;
};

// For a finite x, by Payne and Hanek's method: |x| is m 2^e with an m of 24 bits; of 2/pi 2^e only what is below 4
// and above 2^-100 matters, and its product with m fits 126 bits. The error is below 2^-76; no f32 comes closer
// than 2^-32 to a multiple of pi/2.
Reduced reduce(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t magnitude = bits & F32::kMagnitude;
  if (std::bit_cast<float>(magnitude) < 0.78f) return {0, static_cast<double>(x)};
  const int exponent = static_cast<int>(magnitude >> F32::kMantissaBits) - 150;  // from -24 to 104
  const UInt128 m = (magnitude & F32::kMantissa) | F32::kLeastNormal;
  const unsigned shift = static_cast<unsigned>(156 - exponent);  // of kTwoOverPi, to the right: 52 to 180
  auto word = [](unsigned i) { return i < std::size(kTwoOverPi) ? kTwoOverPi[std::size(kTwoOverPi) - 1 - i] : 0; };
  const unsigned skip = shift / 64, part = shift % 64;
  const UInt128 low = (static_cast<UInt128>(word(skip + 1)) << 64 | word(skip)) >> part;
  const UInt128 window = part == 0 ? low : low | static_cast<UInt128>(word(skip + 2)) << (128 - part);
  const UInt128 product = (window & ((UInt128{1} << 102) - 1)) * m;
  unsigned quadrant = static_cast<unsigned>(product >> 100) & 3;
  UInt128 fraction = product & ((UInt128{1} << 100) - 1);
  const bool up = (fraction >> 99) != 0;
  if (up) fraction = (UInt128{1} << 100) - fraction, quadrant = (quadrant + 1) & 3;
  double rest = static_cast<double>(fraction) * 0x1p-100 * kHalfPi;
  if (up) rest = -rest;
  if ((bits & F32::kSign) != 0) rest = -rest, quadrant = (4 - quadrant) & 3;
  return {quadrant, rest};
}

double sinOrCos(const Reduced& r, unsigned quadrant) {
  const double square = r.rest * r.rest;
  const double value = (quadrant & 1) != 0 ? polynomial(kCos, square) : r.rest * polynomial(kSin, square);
  return (quadrant & 2) != 0 ? -value : value;
}

}  // namespace

double exp2Of(double x) {
  if (x >= 1024) return std::numeric_limits<double>::infinity();
  if (x < -1022) return 0;
  const int whole = static_cast<int>(x < 0 ? x - 0.5 : x + 0.5);
  const double fraction = x - whole;
  const double scale = std::bit_cast<double>(static_cast<uint64_t>((whole > 1023 ? 1023 : whole) + 1023) << 52);
  const double r = polynomial(kExp, fraction * kLn2) * scale;
  return whole > 1023 ? r * 2 : r;
}

double log2Of(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> F64::kMantissaBits) - 1023;
  double m = std::bit_cast<double>((bits & F64::kMantissa) | std::bit_cast<uint64_t>(1.0));
  if (m > 1.4142135) m *= 0.5, ++exponent;
  const double s = (m - 1) / (m + 1);
  return exponent + 2 * kLog2E * s * polynomial(kAtanh, s * s);
}

double sinOf(float x) {
  const Reduced r = reduce(x);
  return sinOrCos(r, r.quadrant);
}

double cosOf(float x) {
  const Reduced r = reduce(x);
  return sinOrCos(r, r.quadrant + 1);
}

double tanhOf(double x) {
  const double a = std::fabs(x);
  if (a < 0x1p-6) return x * polynomial(kTanh, x * x);
  const double r = a > 22 ? 1 : 1 - 2 / (exp2Of(2 * kLog2E * a) + 1);
  return x < 0 ? -r : r;
}

}  // namespace ptxopt::exec
