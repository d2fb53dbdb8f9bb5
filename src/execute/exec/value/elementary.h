// 2^x, log2, sine, cosine and tanh in f64, for the approximate functions of PTX.
//
// Built from additions, multiplications, divisions and table-free polynomials only, so that results do not depend
// on the host's libm. (On a host with fma instructions, compile without contraction to get the same bits.) Accurate
// to about 2^-44 relative for arguments that are exact f32; far below what f32 keeps. All expect finite arguments.
#pragma once

namespace ptxopt::exec {

// 2^x; beyond f64's normal range, infinity or 0.
double exp2Of(double x);
// log2(x) for a positive normal x.
double log2Of(double x);
// sin and cos of any finite f32, with exact argument reduction.
double sinOf(float x);
double cosOf(float x);
double tanhOf(double x);

}  // namespace ptxopt::exec
