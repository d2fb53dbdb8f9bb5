// How many registers a thread may need more inside a loop before the kernel loses a resident block.
//
// The estimate of what ptxas will give the kernel (register_estimate.h), less what the kernel's highest pressure is
// above that of the loop, stands against the limit: the knob lsr-rp-limit, or the last number of registers
// with as many resident blocks (room/kernel_steps.h). Of device functions, of targets that the tables do not
// have nothing is known: the estimate stands against the next multiple of 8, which a warp is handed anyway.
// Made when first asked for. Cost: that of the estimate; then a lookup for each point of the loop.
#pragma once

#include "passes/pass.h"

namespace ptxopt {

class LoopRoom {
 public:
  LoopRoom(const Function& f, PassContext& context) : f_(f), context_(context) {}

  // 32-bit units; below 0 where the estimate is beyond the limit already.
  int of(LoopId l);

 private:
  void make();

  const Function& f_;
  PassContext& context_;
  const RegisterPressure* pressure_ = nullptr;  // none: not made yet
  int estimate_ = 0, limit_ = 0;
};

}  // namespace ptxopt
