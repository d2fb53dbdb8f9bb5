// Result::outcomes: what became of each function, and which others its code may depend on.
#pragma once

#include <vector>

#include "ir/module.h"
#include "ptxopt/ptxopt.h"

namespace ptxopt {

// Linear in the operands of the module, besides the mentions that it finds.
std::vector<FunctionOutcome> outcomesOf(const Module& module);

}  // namespace ptxopt
