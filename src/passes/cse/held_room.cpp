#include "passes/cse/held_room.h"

#include <algorithm>

#include "analysis/register_estimate.h"
#include "passes/split_goal.h"

namespace ptxopt::cse {

void HeldRoom::make() {
  constexpr int kSpare = 6;  // registers: up to 32 ptxas takes some that no estimate sees
  pressure_.emplace(makePressure(context_.module, f_, context_.analyses));
  added_.assign(pressure_->points().size(), 0);
  const Architecture* const machine = architecture(context_.architecture());
  if (!f_.isEntry || machine == nullptr) return;
  const KernelNeeds needs = kernelNeeds(context_.module, f_);
  const uint32_t estimate = estimateRegisters(context_.module, f_, *pressure_).fatPoint;
  const auto cliff = nextCliff(
      *machine, {estimate, needs.threads.value_or(SplitGoal::kUsualThreads), needs.sharedBytes, needs.barriers});
  const uint32_t end = cliff.value_or(Architecture::kMostRegistersPerThread + 1);
  room_ = static_cast<int>(end) - 1 - static_cast<int>(estimate) - kSpare;
}

bool HeldRoom::grant(int units, SlotIndex from, SlotIndex to) {
  if (!pressure_) make();
  if (units > room_) return false;
  const PressurePoints& points = pressure_->points();
  const std::size_t first = points.firstFrom(std::min(from, to));
  const std::size_t last = std::min(points.firstFrom(std::max(from, to)), points.size());
  for (std::size_t p = first; p < last; ++p)
    if (added_[p] + units > room_) return false;
  for (std::size_t p = first; p < last; ++p) added_[p] += units;
  return true;
}

}  // namespace ptxopt::cse
