// The fat-point model of register allocation: see register_estimate.h.
#pragma once

#include "analysis/values/allocated_values.h"

namespace ptxopt {

struct FatPointResult {
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> slot;  // by value: the first of its slots
  uint32_t slots = 0;          // the highest used and one
  uint32_t spilled = 0;
};

// `values` in the order in which they are to be placed. Ends where `enough` slots are used: then only `slots` counts.
FatPointResult placeValues(const Function& function, const PressurePoints& points, const AllocatedValues& values,
                           uint32_t enough = FatPointResult::kNone);

}  // namespace ptxopt
