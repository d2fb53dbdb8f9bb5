// f32 and f64 arithmetic to nearest even without .sat, f32 also with .ftz: the common cases, written without
// branches so that loops over lanes vectorize on baseline x86-64 (f64 fma excepted, which is a call).
//
// f32 fma: the product of two f32 is exact in f64. The sum with the addend is rounded to odd in f64 (Boldo and
// Melquiond: TwoSum yields the error of the nearest sum; truncate towards zero, then set the last bit when
// inexact), after which narrowing to f32 rounds once. f64 never overflows or underflows on the way.
//
// All of this folder counts on the processor's default mode: round to nearest, subnormals kept. Do not compile it
// with -ffast-math. Contraction to the host's fma changes nothing here, as every product that is added to is exact.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "exec/value/float_format.h"

namespace ptxopt::exec {

// a + b with the last bit set when the sum is inexact. Neither the sum nor its error may underflow or overflow in
// f64, which holds for sums of f32 and of their products; infinities and NaNs pass through.
inline double addToOdd(double a, double b) {
  const double sum = a + b;
  const double bPart = sum - a;
  const double aPart = sum - bPart;
  const double error = (a - aPart) + (b - bPart);
  const uint64_t bits = std::bit_cast<uint64_t>(sum);
  const uint64_t below = (std::bit_cast<uint64_t>(error) ^ bits) >> 63;  // the exact sum is nearer to zero
  const uint64_t odd = (bits - below) | 1;
  // Not `error != 0`: with an infinite sum the error is NaN.
  const bool inexact = error < 0 || error > 0;
  return std::bit_cast<double>(inexact ? odd : bits);
}

inline double fmaToOdd(float a, float b, float c) {
  return addToOdd(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c));
}

inline float addNearest(float a, float b) { return canonical(a + b); }
inline float subNearest(float a, float b) { return canonical(a - b); }
inline float mulNearest(float a, float b) { return canonical(a * b); }
inline float fmaNearest(float a, float b, float c) { return canonical(static_cast<float>(fmaToOdd(a, b, c))); }

inline float divNearest(float a, float b) { return canonical(a / b); }
inline float sqrtNearest(float a) { return canonical(std::sqrt(a)); }

inline double addNearest(double a, double b) {
  const double r = a + b;
  return isNaN(r) ? nanResult(a, b) : r;
}
inline double subNearest(double a, double b) {
  const double r = a - b;
  return isNaN(r) ? nanResult(a, b) : r;
}
inline double mulNearest(double a, double b) {
  const double r = a * b;
  return isNaN(r) ? nanResult(a, b) : r;
}
inline double fmaNearest(double a, double b, double c) {
  const double r = std::fma(a, b, c);
  return isNaN(r) ? nanResult(a, b, c) : r;
}

inline double divNearest(double a, double b) {
  const double r = a / b;
  return isNaN(r) ? nanResult(a, b) : r;
}
inline double sqrtNearest(double a) {
  const double r = std::sqrt(a);
  return isNaN(r) ? nanResult(a) : r;
}

}  // namespace ptxopt::exec
