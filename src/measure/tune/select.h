// Which of several ways of a unit is the best.
#pragma once

#include <string>
#include <vector>

#include "ptxas/compare.h"
#include "tune/bench.h"

namespace ptxopt::tune {

struct VariantVerdict {
  enum class Why : uint8_t {
    Chosen,
    Unknown,    // not measured
    Worse,      // than the input, by the rule that goes with the objective, in one of its functions
    NotBetter,  // than what was chosen
  } why = Why::Unknown;
  // For Worse: the function among the members, and how.
  std::size_t member = 0;
  ptxas::Comparison by;
  bool missing = false;  // the function has no code any more
};

// What becomes of each of `ways`; the first one is the input's. One is chosen: the first of the best
// by the sums over the members, measure after measure in the order of the objective.
std::vector<VariantVerdict> choose(const std::vector<const Outcome*>& ways, ptxas::Objective objective);

}  // namespace ptxopt::tune
