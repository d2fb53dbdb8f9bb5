// PTX add, sub, mul, fma (and mad, which is the same), div, rcp, sqrt on f32 and f64 in every rounding, on f16 and
// bf16, and the forms that add f16 or bf16 to f32. Correctly rounded; NaN results as float_format.h says.
//
// f32: all is done in f64. Products of f32 are exact there, sums are rounded to odd; a quotient or root of f32 that
// is not an f32 itself or halfway between two is further from such a point than f64's rounding error, so the
// nearest f64 lies on the right side of it. One narrowing then gives the rounding asked for. f64: to nearest by the
// processor, otherwise by integers (float_directed.h). Half precision has only rounding to nearest in PTX. bf16 has
// neither .ftz nor .sat there; the functions accept them.
//
// Not here: fma.oob. The fast plain forms are in float_nearest.h.
#pragma once

#include <cstdint>

#include "exec/value/float_format.h"
#include "exec/value/half.h"
#include "exec/value/rounding.h"

namespace ptxopt::exec {

struct FloatMode {
  Rounding rounding = Rounding::Nearest;
  bool ftz = false;
  bool sat = false;
};

float add(float a, float b, FloatMode mode);
float sub(float a, float b, FloatMode mode);
float mul(float a, float b, FloatMode mode);
float fma(float a, float b, float c, FloatMode mode);
float div(float a, float b, FloatMode mode);
float rcp(float a, FloatMode mode);
float sqrt(float a, FloatMode mode);

double add(double a, double b, Rounding rounding);
double sub(double a, double b, Rounding rounding);
double mul(double a, double b, Rounding rounding);
double fma(double a, double b, double c, Rounding rounding);
double div(double a, double b, Rounding rounding);
double rcp(double a, Rounding rounding);
double sqrt(double a, Rounding rounding);

// add, sub, fma.rnd{.sat}.f32.{f16,bf16}: a (and b) widened exactly, then the f32 operation.
template <class Format>
float addMixed(uint16_t a, float c, FloatMode mode) {
  return add(widen<Format>(a), c, mode);
}
template <class Format>
float subMixed(uint16_t a, float c, FloatMode mode) {
  return sub(widen<Format>(a), c, mode);
}
template <class Format>
float fmaMixed(uint16_t a, uint16_t b, float c, FloatMode mode) {
  return fma(widen<Format>(a), widen<Format>(b), c, mode);
}

}  // namespace ptxopt::exec
