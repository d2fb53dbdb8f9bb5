#include "passes/util/kernel_steps.h"

namespace ptxopt {

KernelSteps::KernelSteps(const Function& f, const PassContext& context) {
  if (!f.isEntry) return;
  machine_ = architecture(context.architecture());
  if (machine_ != nullptr)
    needs_ = kernelNeeds(context.module, f, &context.moduleAnalyses.get<ModuleCalledNeeds>());
}

uint32_t KernelSteps::last(uint32_t registers) const { return lastOfStep(*machine_, needs_.block(registers)); }

}  // namespace ptxopt
