// The approximate functions of PTX.
//
// The ISA gives special cases and a bound of the error, which differ between machines within that bound. Here each
// function is computed in f64 (elementary.h) and rounded to nearest once, so results are the same on every host
// and, ties that f64 cannot see apart, correctly rounded: well within every bound. They are not what a given GPU
// computes. sin and cos are as exact for arguments of any size, where the ISA promises nothing beyond 100 pi.
//
// div.approx: for 2^126 < |b| < 2^128 the ISA prescribes NaN for infinite a, otherwise a zero of the quotient's sign.
// Below 2^-126, where it prescribes nothing, the quotient is given. NaN results are canonical; .ftz as in
// float_format.h.
#pragma once

#include <cstdint>

namespace ptxopt::exec {

float rcpApprox(float x, bool ftz);
float sqrtApprox(float x, bool ftz);
float rsqrtApprox(float x, bool ftz);
float sinApprox(float x, bool ftz);
float cosApprox(float x, bool ftz);
float lg2Approx(float x, bool ftz);
float ex2Approx(float x, bool ftz);
float tanhApprox(float x);
float divApprox(float a, float b, bool ftz);
float divFull(float a, float b, bool ftz);

// rcp.approx.ftz.f64, rsqrt.approx.ftz.f64: the lower word of the operand is ignored (so a NaN whose payload is
// there only counts as an infinity) and that of the result is 0; the upper is rounded to nearest. NaN is
// 0x7fffffff00000000.
double rcpApproxFtz(double x);
double rsqrtApproxFtz(double x);
// rsqrt.approx.f64: 1 / sqrt(x), each rounded to nearest.
double rsqrtApprox(double x);

uint16_t ex2ApproxF16(uint16_t x);
uint16_t ex2ApproxFtzBf16(uint16_t x);
uint16_t tanhApproxF16(uint16_t x);
uint16_t tanhApproxBf16(uint16_t x);

}  // namespace ptxopt::exec
