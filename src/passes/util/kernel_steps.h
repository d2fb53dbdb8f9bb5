// The numbers of registers at which a kernel loses resident blocks.
//
// They are known for kernels, on targets that the tables have (occupancy.h): a device function has the registers of
// its callers. Cost: a walk over the functions that the kernel reaches (kernel_needs.h).
#pragma once

#include "analysis/machine/kernel_needs.h"
#include "passes/manager/pass.h"

namespace ptxopt {

class KernelSteps {
 public:
  KernelSteps(const Function& f, const PassContext& context);

  bool areKnown() const { return machine_ != nullptr; }
  // The most registers with as many resident blocks as with `registers`.
  uint32_t last(uint32_t registers) const;

 private:
  const Architecture* machine_ = nullptr;
  KernelNeeds needs_;
};

}  // namespace ptxopt
