// Division in terms of cheaper operations, over any algebra of numbers modulo 2^width: passes make PTX of the
// formulas, tests evaluate and prove them.
//
// An algebra A has `Value`, `width()` and, all modulo 2^width, with constants as uint64_t:
//   constant(c)  add(a, b)  subtract(a, b)  negate(a)  bitAnd(a, c)  multiply(a, c)  multiply(a, b)
//   multiplyHigh(a, c), multiplyHigh(a, b): of unsigned numbers; multiplyHighSigned(a, c)
//   shiftRight(a, n), shiftRightSigned(a, n), with n < width
//   increaseIfNotBelow(q, a, b): q + 1 if a >= b unsigned, otherwise q
//   least(a, b): the smaller unsigned one;  absolute(a): of a signed number, unsigned
//   negateIfNegative(a, sign): -a if `sign` is negative, otherwise a
//   differ(a, b): a number that is negative if the signs of a and b differ
#pragma once

#include <bit>
#include <cstdint>

#include "passes/arithmetic/divide/magic.h"

namespace ptxopt::division {

inline uint64_t maskOf(unsigned width) { return width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

// ---- by constants ----

// x / d, unsigned, for x <= most; d >= 1.
template <typename A>
typename A::Value unsignedQuotient(A& a, typename A::Value x, uint64_t d, uint64_t most) {
  const auto shifted = [&](typename A::Value v, unsigned n) { return n == 0 ? v : a.shiftRight(v, n); };
  const unsigned zeros = static_cast<unsigned>(std::countr_zero(d));
  if (std::has_single_bit(d)) return shifted(x, zeros);
  if (const auto magic = unsignedMagic(a.width(), d, most))
    return magic->multiplier == 0 ? a.constant(0) : shifted(a.multiplyHigh(x, magic->multiplier), magic->shift);
  if (zeros != 0) return unsignedQuotient(a, a.shiftRight(x, zeros), d >> zeros, most >> zeros);
  const Magic magic = wideMagic(a.width(), d);
  const auto t = a.multiplyHigh(x, magic.multiplier);
  return shifted(a.add(a.shiftRight(a.subtract(x, t), 1), t), magic.shift - 1);
}

// x % d, given the quotient.
template <typename A>
typename A::Value remainder(A& a, typename A::Value x, typename A::Value quotient, uint64_t d) {
  return a.subtract(x, a.multiply(quotient, d & maskOf(a.width())));
}

// x % 2^n, unsigned.
template <typename A>
typename A::Value unsignedRemainderOfPower(A& a, typename A::Value x, uint64_t d) {
  return a.bitAnd(x, d - 1);
}

// x, or x + 2^n - 1 where x is negative: what rounding towards 0 asks for.
template <typename A>
typename A::Value biased(A& a, typename A::Value x, unsigned n) {
  const auto signs = n == 1 ? x : a.shiftRightSigned(x, a.width() - 1);
  return a.add(x, a.shiftRight(signs, a.width() - n));
}

// x / d, signed, rounded towards 0; d is neither 0 nor 1 nor -1.
template <typename A>
typename A::Value signedQuotient(A& a, typename A::Value x, int64_t d) {
  const uint64_t size = (d < 0 ? -static_cast<uint64_t>(d) : static_cast<uint64_t>(d)) & maskOf(a.width());
  typename A::Value q = x;
  if (std::has_single_bit(size)) {
    const auto n = static_cast<unsigned>(std::countr_zero(size));
    q = a.shiftRightSigned(biased(a, x, n), n);
  } else {
    const Magic magic = signedMagic(a.width(), size);
    q = a.multiplyHighSigned(x, magic.multiplier);
    if ((magic.multiplier >> (a.width() - 1) & 1) != 0) q = a.add(q, x);
    if (magic.shift != 0) q = a.shiftRightSigned(q, magic.shift);
    q = a.add(q, a.shiftRight(x, a.width() - 1));
  }
  return d < 0 ? a.negate(q) : q;
}

// x % 2^n, signed: the sign is that of x.
template <typename A>
typename A::Value signedRemainderOfPower(A& a, typename A::Value x, uint64_t size) {
  const auto n = static_cast<unsigned>(std::countr_zero(size));
  return a.subtract(x, a.bitAnd(biased(a, x, n), maskOf(a.width()) & ~(size - 1)));
}

// ---- by a divisor with a reciprocal ----

// For unsigned d: `factor` is m with 2^width - m * d in [1, d], or 2^width / d for a power of two above 1.
// Then q = floor(x * m / 2^width) is floor(x / d) or one less: x * m / 2^width lies between x / d - x / 2^width and
// x / d, so that q > x / d - 2.
template <typename V>
struct Reciprocal {
  V divisor, negated, factor;
};

template <typename V>
struct Estimate {
  V quotient, rest;  // rest < 2 * divisor: one correction is missing
};

template <typename A>
Estimate<typename A::Value> estimate(A& a, typename A::Value x, const Reciprocal<typename A::Value>& r) {
  const auto q = a.multiplyHigh(x, r.factor);
  return {q, a.add(a.multiply(q, r.negated), x)};
}

template <typename A>
typename A::Value quotientOf(A& a, const Estimate<typename A::Value>& e, const Reciprocal<typename A::Value>& r) {
  return a.increaseIfNotBelow(e.quotient, e.rest, r.divisor);
}

// rest - d wraps to a larger number where it is below d, since rest < 2 * d and d <= 2^width - 1.
template <typename A>
typename A::Value remainderOf(A& a, const Estimate<typename A::Value>& e, const Reciprocal<typename A::Value>& r) {
  return a.least(e.rest, a.subtract(e.rest, r.divisor));
}

}  // namespace ptxopt::division
