// The points of a kernel where more is live than one step of its occupancy allows (split_goal.h).
//
// Counts answer in constant time how many such points lie between two others, and how many of them in deep loops.
// Cost: linear in points, once for each step.
#pragma once

#include <array>
#include <vector>

#include "passes/splitting/split_goal.h"

namespace ptxopt {

class HighPoints {
 public:
  static constexpr std::size_t kDepths = 4;  // loops that are nested deeper count as this deep

  // `depth`: of loops, by BlockId, kDepths at most.
  HighPoints(const SplitGoal& goal, uint32_t step, const PressurePoints& points, const std::vector<uint8_t>& depth);

  // The most units that the step allows.
  uint32_t most() const { return most_; }
  // How many there are from `first` to before `end`.
  uint32_t between(std::size_t first, std::size_t end) const {
    return first < end ? before_[end] - before_[first] : 0;
  }
  // ... and in loops deeper than `depth`.
  uint32_t betweenDeeper(std::size_t first, std::size_t end, uint8_t depth) const {
    return depth < kDepths ? deeper_[depth][end] - deeper_[depth][first] : 0;
  }

 private:
  uint32_t most_;
  std::vector<uint32_t> before_;  // by point: how many come before it
  std::array<std::vector<uint32_t>, kDepths> deeper_;
};

}  // namespace ptxopt
