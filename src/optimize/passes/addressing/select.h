// Which form each group of a loop gets.
//
//   sass      the choice with the fewest machine instructions and waits for them, where an iteration counts kIterations
//             times and the code before the loop once. All groups begin in their best new forms; a group goes back to
//             its old form if the total does not rise. If the result is not less than what there is now, nothing
//             changes; with `needsGain` nor if an iteration is not shorter: where a pointer moves in one instruction,
//             ptxas may load the base of an index in each iteration
//   cheapest  each group by itself gets the form that is cheapest in an iteration, the first of equals
//   median    the forms of all groups in the order of their costs; each group gets its cheapest form at or above
//             the place where the sum of costs passes half, or its dearest below: neither the fewest instructions
//             nor the fewest registers (the rule of cicc)
// Cost: `sass` asks for the loop's cost once a group, until a budget of loop instructions is spent.
#pragma once

#include "passes/addressing/formulas.h"
#include "passes/addressing/loop_cost.h"

namespace ptxopt {

enum class Selection : uint8_t { Median, Cheapest, Sass };

struct GroupForms {
  const UseGroup* group = nullptr;
  std::vector<Formula> formulas;  // Keep first
  std::size_t chosen = 0;
  // In which number of places the address is computed: blocks with uses.
  uint32_t sites = 1;
  bool isWritten = false;  // by some use
};

struct SelectionResult {
  double before = 0, after = 0;   // machine instructions an iteration
  uint32_t counter = kNoCounter;  // that is to be made
};

SelectionResult select(std::vector<GroupForms>& groups, std::span<const Counter> counters, LoopCost& cost,
                       Selection how, bool discountsComplexity, double unitSetup, bool needsGain, double wait);

}  // namespace ptxopt
