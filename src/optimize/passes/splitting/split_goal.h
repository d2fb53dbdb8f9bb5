// How far the register pressure of a kernel is to come down to be worth something.
//
// What counts is the estimate of the registers that ptxas will give (register_estimate.h) against the steps of the
// occupancy (occupancy.h): only below a step an SM holds more warps. A step of that many registers is met, as far as
// can be said, where the allocated units are everywhere at most as many fewer as the estimate is above the step.
// Cost: that of the estimate.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/machine/kernel_needs.h"
#include "analysis/machine/register_estimate.h"
#include "analysis/values/allocated_values.h"
#include "passes/manager/pass.h"

namespace ptxopt {

struct SplitGoal {
  // Why there is none; empty when there is:
  //   no-kernel              a device function has the registers of its callers
  //   unknown-architecture   the tables do not have the target
  //   full-occupancy         fewer registers would not let more warps in
  std::string_view why;
  const target::Limits* machine = nullptr;
  KernelNeeds needs;
  target::BlockNeeds block;  // with the estimated registers
  RegisterEstimate estimate;
  AllocatedValues allocated;
  std::vector<uint32_t> units;      // of the allocated values, by point
  std::vector<uint32_t> registers;  // the steps below the estimate, the nearest first

  // The most allocated units at any point with which the estimate would be `step` registers.
  uint32_t mostUnits(uint32_t step) const;
};

// `wanted`: a number of registers that is the only step; 0: those of the occupancy.
SplitGoal findSplitGoal(const Function& f, PassContext& context, uint32_t wanted);

}  // namespace ptxopt
