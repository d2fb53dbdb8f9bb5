// The functions of a module in units that are chosen for together.
//
// ptxas may put the code of a function into those that mention it, and gives it the registers that suit them. So a
// kernel, all functions that it reaches, and all kernels that reach one of those are one unit. A kernel that is
// alone in its unit depends on its own text only.
// Algorithm: union-find over the mentions. Cost: nearly linear.
#pragma once

#include <cstdint>
#include <vector>

#include "ptxopt/ptxopt.h"

namespace ptxopt::tune {

struct Units {
  std::vector<std::vector<uint32_t>> members;  // functions, in order; units by their first member
  std::vector<uint32_t> unitOf;                // by function

  explicit Units(const std::vector<FunctionOutcome>& functions);
};

}  // namespace ptxopt::tune
