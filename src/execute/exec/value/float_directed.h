// f64 fma, multiplication, division and square root in any rounding, by integer arithmetic.
//
// The exact result (or enough bits of it with a sticky last bit) is built in 128 bits and rounded once. Nothing
// depends on the processor's rounding mode, which compilers do not respect reliably. Special operands (NaN,
// infinity, invalid) give the processor's result, as that does not depend on the rounding. Cost: tens of
// nanoseconds.
#pragma once

#include "exec/value/rounding.h"

namespace ptxopt::exec {

double fmaDirected(double a, double b, double c, Rounding rounding);
double mulDirected(double a, double b, Rounding rounding);
double divDirected(double a, double b, Rounding rounding);
double sqrtDirected(double a, Rounding rounding);

}  // namespace ptxopt::exec
