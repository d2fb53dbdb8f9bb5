// Binders of the floating-point forms of opcodes whose integer forms are in integer.cpp and multiply.cpp.
//
// add, sub, mul, mad, div, abs, neg, min and max serve both kinds of types. The binder that instructions.def names
// is the integer one; it hands an opcode with a floating-point type on untouched. fma has no integer form.
#pragma once

#include "exec/binder.h"

namespace ptxopt::exec {

void bindFloatAdd(Binder& b);
void bindFloatSub(Binder& b);
void bindFloatMul(Binder& b);
void bindFloatMad(Binder& b);
void bindFloatFma(Binder& b);
void bindFloatDiv(Binder& b);
void bindFloatAbs(Binder& b);
void bindFloatNeg(Binder& b);
void bindFloatMin(Binder& b);
void bindFloatMax(Binder& b);

}  // namespace ptxopt::exec
