// What a block of a kernel needs of an SM, as far as the PTX says it.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/module.h"

namespace ptxopt {

struct KernelNeeds {
  // The product of .reqntid or, without that, .maxntid.
  std::optional<uint32_t> threads;
  bool threadsAreExact = false;   // .reqntid
  std::optional<uint32_t> mostRegisters;  // .maxnreg
  std::optional<uint32_t> leastBlocks;    // .minnctapersm
  // Static shared memory: the variables that the kernel and the functions it names use, each aligned. What is
  // sized at launch (`extern .shared`) is not in it.
  uint64_t sharedBytes = 0;
};

// Cost: linear in the functions that the kernel reaches.
KernelNeeds kernelNeeds(const Module& module, const Function& kernel);

}  // namespace ptxopt
