#include "passes/util/loop_register_budget.h"

#include "passes/util/kernel_steps.h"

namespace ptxopt {

int LoopRegisterBudget::make() const {
  const uint32_t estimate = context_.analyses.fatPointRegisters();
  if (const int64_t limit = context_.knobs[Knob::LsrRpLimit]; limit != 0)
    return static_cast<int>(limit) - static_cast<int>(estimate);
  const KernelSteps steps(f_, context_);
  return static_cast<int>((steps.areKnown() ? steps.last(estimate) : (estimate + 7) / 8 * 8) - estimate);
}

// How much lower the pressure is in the loop than where it is highest.
int LoopRegisterBudget::belowMaximum(LoopId l) const {
  const RegisterPressure& pressure = context_.analyses.registerPressure();
  return static_cast<int>(pressure.maximum().data) -
         static_cast<int>(pressure.maximumOf(context_.analyses.loops(), l).data);
}

int LoopRegisterBudget::roomOfThread(LoopId l) const {
  const auto limit = static_cast<int>(statedRegisterLimit(context_.module, f_));
  return limit - static_cast<int>(context_.analyses.fatPointRegisters()) + belowMaximum(l);
}

bool LoopRegisterBudget::has(LoopId l, int units) {
  const int below = belowMaximum(l);
  if (!room_ && units <= below && context_.knobs[Knob::LsrRpLimit] == 0) return true;
  if (!room_) room_ = make();
  return units <= *room_ + below;
}

}  // namespace ptxopt
