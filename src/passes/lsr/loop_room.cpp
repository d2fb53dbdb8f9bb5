#include "passes/lsr/loop_room.h"

#include <algorithm>

#include "analysis/register_estimate.h"
#include "passes/split_goal.h"

namespace ptxopt {

void LoopRoom::make() {
  pressure_.emplace(makePressure(context_.module, f_, context_.analyses));
  estimate_ = static_cast<int>(estimateRegisters(context_.module, f_, *pressure_).fatPoint);
  if (const int64_t limit = context_.knobs["lsr-rp-limit"]; limit != 0) {
    limit_ = static_cast<int>(limit);
    return;
  }
  const Architecture* const machine = architecture(context_.architecture());
  if (!f_.isEntry || machine == nullptr) {
    limit_ = (estimate_ + 7) / 8 * 8;
    return;
  }
  const KernelNeeds needs = kernelNeeds(context_.module, f_);
  const auto cliff =
      nextCliff(*machine, {static_cast<uint32_t>(estimate_), needs.threads.value_or(SplitGoal::kUsualThreads),
                           needs.sharedBytes, needs.barriers});
  limit_ = static_cast<int>(cliff.value_or(Architecture::kMostRegistersPerThread + 1)) - 1;
}

int LoopRoom::of(LoopId l) {
  if (!pressure_) make();
  const int spare = static_cast<int>(pressure_->maximum().data) -
                    static_cast<int>(pressure_->maximumOf(context_.analyses.loops(), l).data);
  return limit_ - (estimate_ - spare);
}

}  // namespace ptxopt
