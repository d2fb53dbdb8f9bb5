// Checks the invariants of function.h. Cost: linear.
#pragma once

#include <string>

#include "ir/module.h"

namespace ptxopt {

// The first invariant that does not hold, in words, or an empty string.
std::string verify(const Module& module, const Function& function);
std::string verify(const Module& module);

}  // namespace ptxopt
