// Whether a kernel has registers for values that local-cse keeps longer.
//
// ptxas orders loads anew and takes registers for speed, which the pressure of the PTX does not show. So the
// estimate that follows its scheduler (fat point, register_estimate.h) stands against the next number of registers
// with which fewer blocks are resident, and what lies between, less what the estimate is wrong by, is all that may
// be added at any point. Of device functions and of targets that the tables do not have nothing is known: no room.
// Made when first asked for. Cost: that of the estimate; then linear in the points between the two places.
#pragma once

#include <optional>

#include "analysis/register_pressure.h"
#include "passes/pass.h"

namespace ptxopt::cse {

class HeldRoom {
 public:
  HeldRoom(const Function& f, PassContext& context) : f_(f), context_(context) {}

  // Whether a register of `units` may be live from `from` to `to` as well. What was granted before counts.
  bool grant(int units, SlotIndex from, SlotIndex to);

 private:
  void make();

  const Function& f_;
  PassContext& context_;
  std::optional<RegisterPressure> pressure_;
  int room_ = 0;            // units
  std::vector<int> added_;  // by point
};

}  // namespace ptxopt::cse
