#include "passes/splitting/high_points.h"

namespace ptxopt {

HighPoints::HighPoints(const SplitGoal& goal, uint32_t step, const PressurePoints& points,
                       const std::vector<uint8_t>& depth)
    : most_(goal.mostUnits(step)), before_(points.size() + 1) {
  for (auto& d : deeper_) d.resize(points.size() + 1);
  for (std::size_t p = 0; p < points.size(); ++p) {
    const bool isHigh = goal.units[p] > most_;
    before_[p + 1] = before_[p] + isHigh;
    const uint8_t at = depth[points[p].block.value];
    for (std::size_t d = 0; d < kDepths; ++d) deeper_[d][p + 1] = deeper_[d][p] + (isHigh && at > d);
  }
}

}  // namespace ptxopt
