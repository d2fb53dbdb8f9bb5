// The numbers of registers at which a kernel loses resident blocks, and those with which all warps are resident.
//
// They are known for kernels: a device function has the registers of its callers. On a target that the tables
// (occupancy.h) do not have, only what holds for all is taken for granted: 65536 registers, handed out 8 a thread, for 64
// warps at most. So up to 32 registers every warp has its own, and above that each 8 may be a step.
// Cost: a walk over the functions that the kernel reaches (kernel_needs.h).
#pragma once

#include "analysis/machine/kernel_needs.h"
#include "passes/manager/pass.h"

namespace ptxopt {

class KernelSteps {
 public:
  KernelSteps(const Function& f, const PassContext& context);

  bool areKnown() const { return isKernel_; }
  // The most registers with as many resident blocks as with `registers`.
  uint32_t last(uint32_t registers) const;
  // Whether as many warps are resident as the machine has room for, by registers, threads and what shared memory the PTX names.
  bool hasAllWarps(uint32_t registers) const;

 private:
  static constexpr uint32_t kUnit = 8, kForAllWarps = 32;  // registers of a thread

  bool isKernel_ = false;
  const target::Limits* machine_ = nullptr;
  KernelNeeds needs_;
};

}  // namespace ptxopt
