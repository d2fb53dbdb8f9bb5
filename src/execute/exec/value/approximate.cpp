// Each function handles its special cases, calls elementary.h in f64 and rounds the result once. The f64 forms with
// .ftz work on the upper word, rounded to nearest even.
#include "exec/value/approximate.h"

#include <bit>
#include <cmath>
#include <limits>

#include "exec/value/elementary.h"
#include "exec/value/float_format.h"
#include "exec/value/half.h"

namespace ptxopt::exec {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

float input(float x, bool ftz) { return ftz ? flushSubnormal(x) : x; }

float output(double x, bool ftz) {
  const float r = canonical(static_cast<float>(x));
  return ftz ? flushSubnormal(r) : r;
}

double exp2WithLimits(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return x < 0 ? 0 : x;
  return exp2Of(x);
}

double tanhWithLimits(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return x < 0 ? -1 : 1;
  return tanhOf(x);
}

double log2WithLimits(double x) {
  if (x == 0) return -kInfinity;
  if (!(x > 0)) return kNaN;
  return std::isinf(x) ? x : log2Of(x);
}

// For f64's upper word, 1.11.20, with a subnormal taken for zero.
double upperWord(double x) {
  return std::bit_cast<double>(F64::flush(std::bit_cast<uint64_t>(x) & 0xffffffff00000000));
}

// To the upper word, to nearest even; the carry may reach the exponent.
double roundToUpperWord(double x) {
  if (isNaN(x)) return std::bit_cast<double>(uint64_t{0x7fffffff00000000});
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const uint64_t rounded = bits + 0x7fffffff + ((bits >> 32) & 1);
  return std::bit_cast<double>(F64::flush(rounded & 0xffffffff00000000));
}

}  // namespace

float rcpApprox(float x, bool ftz) { return output(1.0 / static_cast<double>(input(x, ftz)), ftz); }

float sqrtApprox(float x, bool ftz) { return output(std::sqrt(static_cast<double>(input(x, ftz))), ftz); }

float rsqrtApprox(float x, bool ftz) { return output(1.0 / std::sqrt(static_cast<double>(input(x, ftz))), ftz); }

float sinApprox(float x, bool ftz) {
  x = input(x, ftz);
  return output(std::isfinite(x) ? sinOf(x) : kNaN, ftz);
}

float cosApprox(float x, bool ftz) {
  x = input(x, ftz);
  return output(std::isfinite(x) ? cosOf(x) : kNaN, ftz);
}

float lg2Approx(float x, bool ftz) { return output(log2WithLimits(static_cast<double>(input(x, ftz))), ftz); }

float ex2Approx(float x, bool ftz) { return output(exp2WithLimits(static_cast<double>(input(x, ftz))), ftz); }

float tanhApprox(float x) { return output(tanhWithLimits(static_cast<double>(x)), false); }

float divApprox(float a, float b, bool ftz) {
  a = input(a, ftz), b = input(b, ftz);
  // The reciprocal of such a b is taken for zero; infinity times zero is NaN.
  const float magnitude = std::fabs(b);
  if (magnitude > 0x1p126f && magnitude < std::numeric_limits<float>::infinity())
    return canonical(a * std::copysign(0.0f, b));
  return output(static_cast<double>(a) / static_cast<double>(b), ftz);
}

float divFull(float a, float b, bool ftz) {
  return output(static_cast<double>(input(a, ftz)) / static_cast<double>(input(b, ftz)), ftz);
}

double rcpApproxFtz(double x) { return roundToUpperWord(1.0 / upperWord(x)); }

double rsqrtApproxFtz(double x) { return roundToUpperWord(1.0 / std::sqrt(upperWord(x))); }

double rsqrtApprox(double x) {
  const double r = 1.0 / std::sqrt(x);
  return isNaN(r) ? nanResult(x) : r;
}

uint16_t ex2ApproxF16(uint16_t x) {
  return roundTo<F16>(exp2WithLimits(static_cast<double>(widen<F16>(x))), Rounding::Nearest);
}

uint16_t ex2ApproxFtzBf16(uint16_t x) {
  const double r = exp2WithLimits(static_cast<double>(widen<Bf16>(Bf16::flush(x))));
  return Bf16::flush(roundTo<Bf16>(r, Rounding::Nearest));
}

uint16_t tanhApproxF16(uint16_t x) {
  return roundTo<F16>(tanhWithLimits(static_cast<double>(widen<F16>(x))), Rounding::Nearest);
}

uint16_t tanhApproxBf16(uint16_t x) {
  return roundTo<Bf16>(tanhWithLimits(static_cast<double>(widen<Bf16>(x))), Rounding::Nearest);
}

}  // namespace ptxopt::exec
