// Addresses of loads, stores and their like from other addresses, without loops: the straight-line half of
// loop-reduce. See straight_line.cpp.
#pragma once

#include "passes/pass.h"

namespace ptxopt {

// Whether the function changed. Control flow does not; what was computed for nothing now is left to live-dead.
// Whether the live ranges of a function can be had within what liveness may take.
bool hasUsableRanges(const Function& f, PassContext& context);

bool reuseAddresses(Function& f, PassContext& context);

}  // namespace ptxopt
