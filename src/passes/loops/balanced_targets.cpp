#include "passes/loops/balanced_targets.h"

#include <algorithm>
#include <iterator>

#include "analysis/machine/target_number.h"

namespace ptxopt {
namespace {

constexpr BalancedTarget kBalancedTargets[] = {
#define PTX_BALANCED(first, last, leastGain) {first, last, leastGain},
#include "passes/loops/balanced_targets.def"
};

}  // namespace

const BalancedTarget* balancedTarget(std::string_view architecture) {
  const auto number = targetNumber(architecture);
  const auto at = std::ranges::find_if(
      kBalancedTargets, [&](const BalancedTarget& t) { return number && t.first <= *number && *number <= t.last; });
  return at == std::end(kBalancedTargets) ? nullptr : at;
}

}  // namespace ptxopt
