// How many registers a thread may need more inside a loop before the kernel loses a resident block.
//
// The estimate of what ptxas will give the kernel (register_estimate.h), less what the kernel's highest pressure is
// above that of the loop, stands against the limit: the knob lsr-rp-limit, or the last number of registers
// with as many resident blocks (kernel_steps.h). Of device functions, of targets that the tables do not
// have nothing is known: the estimate stands against the next multiple of 8, which a warp is handed anyway.
// The estimate is made only for questions that what a loop is below the highest pressure does not answer: whatever
// it is, it is within its step. Cost: that of the estimate; then a lookup for each point of the loop.
#pragma once

#include <optional>

#include "passes/manager/pass.h"

namespace ptxopt {

class LoopRegisterBudget {
 public:
  LoopRegisterBudget(const Function& f, PassContext& context) : f_(f), context_(context) {}

  // Whether there are `units` of 32 bits.
  bool has(LoopId l, int units);

 private:
  int make() const;

  const Function& f_;
  PassContext& context_;
  std::optional<int> room_;  // where the pressure is highest
};

}  // namespace ptxopt
