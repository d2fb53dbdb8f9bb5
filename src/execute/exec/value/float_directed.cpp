// Operands are unpacked to sign, exponent and significand; sums, quotients and roots keep a sticky bit for what is
// lost, and pack() rounds once. The root is the integer one of a double's estimate after a step of Newton's method.
#include "exec/value/float_directed.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "exec/value/float_format.h"
#include "exec/value/float_nearest.h"
#include "support/int128.h"

namespace ptxopt::exec {
namespace {

int bitLength(UInt128 x) {
  const uint64_t high = static_cast<uint64_t>(x >> 64);
  return high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(static_cast<uint64_t>(x));
}

// significand * 2^exponent
struct UnpackedDouble {
  bool negative;
  int exponent;
  uint64_t significand;
};

// For a finite number; the significand of one that is not zero has its top bit at kMantissaBits.
UnpackedDouble unpackDouble(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const int field = static_cast<int>((bits & F64::kMagnitude) >> F64::kMantissaBits);
  UnpackedDouble u{F64::isNegative(bits), F64::kLeastExponent - F64::kMantissaBits, bits & F64::kMantissa};
  if (field != 0) {
    u.significand |= F64::kLeastNormal;
    u.exponent += field - 1;
  } else if (u.significand != 0) {
    const int shift = std::countl_zero(u.significand) - (63 - F64::kMantissaBits);
    u.significand <<= shift;
    u.exponent -= shift;
  }
  return u;
}

double signedZero(bool negative) { return negative ? -0.0 : 0.0; }

// The sign of x + y when the sum is exactly zero.
bool zeroSumNegative(bool x, bool y, Rounding rounding) { return x == y ? x : rounding == Rounding::Down; }

// `significand`, which is not zero, times 2^exponent. Where its last bit is sticky, it has at least 56 bits.
double pack(bool negative, int exponent, UInt128 significand, Rounding rounding) {
  const int length = bitLength(significand);
  int shift = length - (F64::kMantissaBits + 1);
  const int top = exponent + length - 1;
  uint64_t upper = 0;
  if (top < F64::kLeastExponent) {
    shift += F64::kLeastExponent - top;
    if (shift > 127) shift = 127;
  } else {
    upper = static_cast<uint64_t>(top - F64::kLeastExponent) << F64::kMantissaBits;
  }
  uint64_t kept = 0;
  bool away = false;
  if (shift <= 0) {
    kept = static_cast<uint64_t>(significand) << -shift;
  } else {
    kept = static_cast<uint64_t>(significand >> shift);
    const UInt128 rest = significand & ((UInt128{1} << shift) - 1);
    const UInt128 half = UInt128{1} << (shift - 1);
    switch (rounding) {
      case Rounding::Nearest: away = rest > half || (rest == half && (kept & 1) != 0); break;
      case Rounding::Zero: break;
      case Rounding::Down: away = negative && rest != 0; break;
      case Rounding::Up: away = !negative && rest != 0; break;
    }
  }
  uint64_t result = upper + kept + (away ? 1 : 0);
  // Far above the range the exponent field would wrap into the sign: `top` shows that.
  if (top > 1023 || result >= F64::kInfinity) {
    const bool toInfinity = rounding == Rounding::Nearest || (rounding == Rounding::Down && negative) ||
                            (rounding == Rounding::Up && !negative);
    result = toInfinity ? F64::kInfinity : F64::kLargest;
  }
  return std::bit_cast<double>(result | (negative ? F64::kSign : 0));
}

// x >> shift, with the last bit set when bits were lost.
UInt128 shiftSticky(UInt128 x, int shift) {
  if (shift == 0) return x;
  if (shift > 127) return x != 0 ? 1 : 0;
  return (x >> shift) | ((x & ((UInt128{1} << shift) - 1)) != 0 ? 1 : 0);
}

bool finite(double x) { return F64::isFinite(std::bit_cast<uint64_t>(x)); }

}  // namespace

double fmaDirected(double a, double b, double c, Rounding rounding) {
  if (!finite(a) || !finite(b) || !finite(c)) return fmaNearest(a, b, c);
  const UnpackedDouble ua = unpackDouble(a), ub = unpackDouble(b), uc = unpackDouble(c);
  const bool productNegative = ua.negative != ub.negative;
  UInt128 product = static_cast<UInt128>(ua.significand) * ub.significand;
  if (product == 0) {
    if (uc.significand == 0) return signedZero(zeroSumNegative(productNegative, uc.negative, rounding));
    return c;
  }
  int exponent = ua.exponent + ub.exponent;
  if (uc.significand == 0) return pack(productNegative, exponent, product, rounding);

  // Both with the top bit at 125, to leave room for a carry. Bits are lost from the smaller one only when it is
  // more than 20 places below, and then the difference still has more than 120 bits.
  struct Term {
    bool negative;
    int exponent;
    UInt128 significand;
  };
  auto aligned = [](bool negative, int e, UInt128 s) {
    const int shift = 126 - bitLength(s);
    return Term{negative, e - shift, s << shift};
  };
  Term x = aligned(productNegative, exponent, product);
  Term y = aligned(uc.negative, uc.exponent, uc.significand);
  if (x.exponent < y.exponent) std::swap(x, y);
  y.significand = shiftSticky(y.significand, x.exponent - y.exponent);
  if (x.negative == y.negative) return pack(x.negative, x.exponent, x.significand + y.significand, rounding);
  if (x.significand == y.significand) return signedZero(rounding == Rounding::Down);
  if (x.significand < y.significand) std::swap(x.significand, y.significand), x.negative = y.negative;
  return pack(x.negative, x.exponent, x.significand - y.significand, rounding);
}

double mulDirected(double a, double b, Rounding rounding) {
  if (!finite(a) || !finite(b)) return mulNearest(a, b);
  const UnpackedDouble ua = unpackDouble(a), ub = unpackDouble(b);
  const UInt128 product = static_cast<UInt128>(ua.significand) * ub.significand;
  if (product == 0) return signedZero(ua.negative != ub.negative);
  return pack(ua.negative != ub.negative, ua.exponent + ub.exponent, product, rounding);
}

double divDirected(double a, double b, Rounding rounding) {
  const double nearest = a / b;
  if (isNaN(nearest)) return nanResult(a, b);
  if (!finite(a) || !finite(b) || a == 0 || b == 0) return nearest;
  const UnpackedDouble ua = unpackDouble(a), ub = unpackDouble(b);
  const UInt128 dividend = static_cast<UInt128>(ua.significand) << 64;
  const UInt128 quotient = dividend / ub.significand;
  const UInt128 sticky = quotient * ub.significand != dividend ? 1 : 0;
  return pack(ua.negative != ub.negative, ua.exponent - ub.exponent - 64, quotient | sticky, rounding);
}

double sqrtDirected(double a, Rounding rounding) {
  const double nearest = std::sqrt(a);
  if (isNaN(nearest)) return nanResult(a);
  if (!finite(a) || a == 0) return nearest;
  const UnpackedDouble u = unpackDouble(a);
  // Between 2^123 and 2^126, with an even exponent.
  const int shift = (u.exponent & 1) != 0 ? 71 : 72;
  const UInt128 square = static_cast<UInt128>(u.significand) << shift;
  const uint64_t first = static_cast<uint64_t>(std::sqrt(static_cast<double>(square)));
  uint64_t root = static_cast<uint64_t>((first + square / first) >> 1);  // one step of Newton's method
  while (static_cast<UInt128>(root) * root > square) --root;
  while (static_cast<UInt128>(root + 1) * (root + 1) <= square) ++root;
  const uint64_t sticky = static_cast<UInt128>(root) * root != square ? 1 : 0;
  return pack(false, (u.exponent - shift) / 2, root | sticky, rounding);
}

}  // namespace ptxopt::exec
