// Whether the registers of a kernel have room for a value that lives longer.
//
// The room is the difference between an estimate of what ptxas will give the kernel (register_estimate.h) and the
// largest number of registers that keeps the resident blocks (kernel_steps.h), less a margin for the estimate's error.
// Device functions, and targets that the tables do not have, have no room. The estimate is made when it is first
// needed: where the pressure stays below what it is elsewhere, it is not. Cost: that of the estimate; then linear in the points of the value's new range.
#pragma once

#include <vector>

#include "passes/manager/pass.h"

namespace ptxopt {

class RangeRegisterBudget {
 public:
  enum class Estimate : uint8_t {
    // By the pressure of the PTX. The room is above its highest point: below that, values may be added for nothing.
    Plain,
    // By the model that follows the scheduler. ptxas orders loads anew and takes registers for speed, which the
    // pressure of the PTX does not show: the room is all that may be added at any point.
    FatPoint,
  };
  RangeRegisterBudget(const Function& f, PassContext& context, Estimate estimate)
      : f_(f), context_(context), estimate_(estimate) {}

  // Whether a register of `units` may be live from `from` to `to` as well, where it is not live today. What was
  // granted before counts.
  bool grant(uint32_t units, SlotIndex from, SlotIndex to);

 private:
  void make();
  void addRoom();

  const Function& f_;
  PassContext& context_;
  const Estimate estimate_;
  const PressurePoints* points_ = nullptr;  // none: not made yet
  uint32_t limit_ = 0;                      // units at a point
  bool hasRoom_ = false;                    // the estimate's room is in limit_
  std::vector<uint32_t> taken_;             // by point: what counts there today, and what was granted
};

}  // namespace ptxopt
