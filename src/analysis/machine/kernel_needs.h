// What a block of a kernel takes of an SM, as far as the PTX says.
//
// Threads: .reqntid, else .maxntid. Shared memory: the .shared variables that the kernel and the functions it calls
// by name mention, one after the other, each at its alignment; what is `extern` is given at launch and counts as
// nothing. Barriers: one more than the highest number that a bar or barrier names; 16 where a register names it.
// An estimate: ptxas may drop or share variables, and functions called through pointers are not seen.
// Cost: linear in the functions that can be reached.
#pragma once

#include <optional>

#include "analysis/machine/occupancy.h"
#include "ir/module.h"

namespace ptxopt {

struct KernelNeeds {
  // What blocks are taken to have where the PTX does not say: as many warps as an SM has parts, so that the steps
  // of the occupancy are those of the registers alone.
  static constexpr uint32_t kUsualThreads = 128;

  std::optional<uint32_t> threads;  // none: the PTX does not say
  uint64_t sharedBytes = 0;
  bool dynamicShared = false;  // an `extern` variable is mentioned
  uint32_t barriers = 0;

  BlockNeeds block(uint32_t registers) const {
    return {registers, threads.value_or(kUsualThreads), sharedBytes, barriers};
  }
};
KernelNeeds kernelNeeds(const Module& module, const Function& kernel);

// Fills Function::calledNeeds of all but kernels, before passes change any function: other threads may work on
// these while the needs of a kernel that calls them are asked for.
void makeCalledNeeds(Module& module);

// The occupancy of a kernel in stable text, for one block size if the PTX gives it and for several otherwise.
// `registers`: an estimate of what ptxas will give it.
std::string dumpOccupancy(const Module& module, const Function& kernel, const Architecture& a, uint32_t registers);

}  // namespace ptxopt
