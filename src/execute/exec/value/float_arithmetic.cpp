// Each f32 operation flushes its inputs, computes in f64 so that one narrowing rounds correctly, and finishes in
// output(): rounding, .ftz and .sat in this order.
#include "exec/value/float_arithmetic.h"

#include <bit>
#include <cmath>

#include "exec/value/float_directed.h"
#include "exec/value/float_nearest.h"

namespace ptxopt::exec {
namespace {

float input(float x, FloatMode mode) { return mode.ftz ? flushSubnormal(x) : x; }

// `x` is exact, rounded to odd, or so near to the exact value that its side of every f32 and midpoint is right.
float output(double x, FloatMode mode) {
  float r = mode.rounding == Rounding::Nearest ? canonical(static_cast<float>(x))
                                               : std::bit_cast<float>(roundTo<F32>(x, mode.rounding));
  if (mode.ftz) r = flushSubnormal(r);
  return mode.sat ? saturate(r) : r;
}

// A sum that is exactly zero, of terms of unlike sign, is -0 when rounding down.
double sumToOdd(double a, double b, Rounding rounding) {
  const double s = addToOdd(a, b);
  return s == 0 && rounding == Rounding::Down && std::signbit(a) != std::signbit(b) ? -0.0 : s;
}

}  // namespace

float add(float a, float b, FloatMode mode) {
  a = input(a, mode), b = input(b, mode);
  return output(sumToOdd(static_cast<double>(a), static_cast<double>(b), mode.rounding), mode);
}

float sub(float a, float b, FloatMode mode) { return add(a, -b, mode); }

float mul(float a, float b, FloatMode mode) {
  a = input(a, mode), b = input(b, mode);
  return output(static_cast<double>(a) * static_cast<double>(b), mode);
}

float fma(float a, float b, float c, FloatMode mode) {
  a = input(a, mode), b = input(b, mode), c = input(c, mode);
  const double product = static_cast<double>(a) * static_cast<double>(b);
  return output(sumToOdd(product, static_cast<double>(c), mode.rounding), mode);
}

float div(float a, float b, FloatMode mode) {
  a = input(a, mode), b = input(b, mode);
  return output(static_cast<double>(a) / static_cast<double>(b), mode);
}

float rcp(float a, FloatMode mode) { return div(1.0f, a, mode); }

float sqrt(float a, FloatMode mode) { return output(std::sqrt(static_cast<double>(input(a, mode))), mode); }

double add(double a, double b, Rounding rounding) {
  if (rounding == Rounding::Nearest) return addNearest(a, b);
  const double r = a + b;
  return isNaN(r) ? nanResult(a, b) : fmaDirected(a, 1.0, b, rounding);
}

double sub(double a, double b, Rounding rounding) {
  if (rounding == Rounding::Nearest) return subNearest(a, b);
  const double r = a - b;
  return isNaN(r) ? nanResult(a, b) : fmaDirected(a, 1.0, -b, rounding);
}

double mul(double a, double b, Rounding rounding) {
  return rounding == Rounding::Nearest ? mulNearest(a, b) : mulDirected(a, b, rounding);
}

double fma(double a, double b, double c, Rounding rounding) {
  return rounding == Rounding::Nearest ? fmaNearest(a, b, c) : fmaDirected(a, b, c, rounding);
}

double div(double a, double b, Rounding rounding) {
  return rounding == Rounding::Nearest ? divNearest(a, b) : divDirected(a, b, rounding);
}

double rcp(double a, Rounding rounding) { return div(1.0, a, rounding); }

double sqrt(double a, Rounding rounding) {
  return rounding == Rounding::Nearest ? sqrtNearest(a) : sqrtDirected(a, rounding);
}

}  // namespace ptxopt::exec
