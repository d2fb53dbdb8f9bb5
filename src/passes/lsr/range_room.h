// Whether the registers of a kernel have room for a value that lives longer.
//
// The estimate of what ptxas will give the kernel (register_estimate.h) stands against the next number of registers
// with which fewer blocks are resident (occupancy.h). What lies between is room that may be filled above the
// highest pressure of today. Of device functions and of targets that the tables do not have nothing is known: no
// room. Made when first asked for. Cost: that of the estimate; then linear in the points that are looked at.
#pragma once

#include <optional>

#include "analysis/register_pressure.h"
#include "passes/pass.h"

namespace ptxopt {

class RangeRoom {
 public:
  RangeRoom(const Function& f, PassContext& context) : f_(f), context_(context) {}

  // Whether a register of `units` may be live from `from` to `to` as well, where it is not live today. What was
  // granted before counts.
  bool grant(uint32_t units, SlotIndex from, SlotIndex to);

 private:
  const Function& f_;
  PassContext& context_;
  std::optional<RegisterPressure> pressure_;
  uint32_t limit_ = 0;           // units at a point
  std::vector<uint32_t> added_;  // by point
};

}  // namespace ptxopt
