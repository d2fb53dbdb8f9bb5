// Addresses of loads, stores and their like from other addresses, without loops: the straight-line half of
// loop-reduce. See straight_line.cpp.
#pragma once

#include "passes/pass.h"

namespace ptxopt {

// Whether the function changed. Control flow does not; what was computed for nothing now is left to live-dead.
bool reuseAddresses(Function& f, PassContext& context);

}  // namespace ptxopt
