// How many registers a thread may need more inside a loop before the kernel loses a resident block.
//
// What the loop takes is the estimate of what ptxas will give the kernel (register_estimate.h), less the difference
// between the kernel's highest pressure and that of the loop. It is compared with a limit: the knob lsr-rp-limit, or
// the largest number of registers that keeps the resident blocks (kernel_steps.h). For device functions the limit is
// the estimate rounded up to 8 registers, the unit of allocation.
// The difference alone is often enough room, as the estimate never exceeds its own limit; only otherwise is the
// estimate made. Cost: that of the estimate; then a lookup for each point of the loop.
#pragma once

#include <optional>

#include "passes/manager/pass.h"

namespace ptxopt {

class LoopRegisterBudget {
 public:
  LoopRegisterBudget(const Function& f, PassContext& context) : f_(f), context_(context) {}

  // Whether there are `units` of 32 bits.
  bool has(LoopId l, int units);
  // How many units there are until the thread has all registers that it may have: 255, or what the kernel's directives
  // allow.
  int roomOfThread(LoopId l) const;

 private:
  int make() const;
  int belowMaximum(LoopId l) const;

  const Function& f_;
  PassContext& context_;
  std::optional<int> room_;  // where the pressure is highest
};

}  // namespace ptxopt
