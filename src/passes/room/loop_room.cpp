#include "passes/room/loop_room.h"

#include <algorithm>

#include "passes/room/kernel_steps.h"

namespace ptxopt {

void LoopRoom::make() {
  Analyses& analyses = context_.analyses;
  pressure_ = &analyses.registerPressure();
  const uint32_t estimate = analyses.registerEstimate().fatPoint;
  estimate_ = static_cast<int>(estimate);
  if (const int64_t limit = context_.knobs["lsr-rp-limit"]; limit != 0) {
    limit_ = static_cast<int>(limit);
    return;
  }
  const KernelSteps steps(f_, context_);
  limit_ = static_cast<int>(steps.areKnown() ? steps.last(estimate) : (estimate + 7) / 8 * 8);
}

int LoopRoom::of(LoopId l) {
  if (pressure_ == nullptr) make();
  const int spare = static_cast<int>(pressure_->maximum().data) -
                    static_cast<int>(pressure_->maximumOf(context_.analyses.loops(), l).data);
  return limit_ - (estimate_ - spare);
}

}  // namespace ptxopt
