#include "passes/util/kernel_steps.h"

#include <algorithm>

namespace ptxopt {

KernelSteps::KernelSteps(const Function& f, const PassContext& context) {
  isKernel_ = f.isEntry;
  if (!isKernel_) return;
  machine_ = context.target().limits();
  if (machine_ != nullptr)
    needs_ = kernelNeeds(context.module, f, &context.moduleAnalyses.get<ModuleCalledNeeds>());
}

uint32_t KernelSteps::last(uint32_t registers) const {
  if (machine_ == nullptr) return std::max(kForAllWarps, (registers + kUnit - 1) / kUnit * kUnit);
  return lastOfStep(*machine_, needs_.block(registers));
}

bool KernelSteps::hasAllWarps(uint32_t registers) const {
  if (!isKernel_) return false;
  if (machine_ == nullptr) return registers <= kForAllWarps;
  return occupancy(*machine_, needs_.block(registers)).warps == machine_->mostWarps;
}

}  // namespace ptxopt
