// The targets on which balance-pipes moves products to the ALU, and what a loop must gain for it: balanced_targets.def.
#pragma once

#include <cstdint>
#include <string_view>

namespace ptxopt {

struct BalancedTarget {
  uint32_t first, last;
  double leastGain;
};

// None where nothing was found to gain.
const BalancedTarget* balancedTarget(std::string_view architecture);

}  // namespace ptxopt
