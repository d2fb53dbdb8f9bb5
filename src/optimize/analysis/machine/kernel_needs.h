// What a block of a kernel takes of an SM, as far as the PTX says.
//
// Threads: .reqntid, otherwise .maxntid. Shared memory: the .shared variables that the kernel and the functions it names
// mention, one after the other, each at its alignment; what is `extern` is given at launch and counts as nothing.
// Barriers: one more than the highest number that a bar or barrier names; 16 where a register names it.
// An estimate: ptxas may drop or share variables, and functions called through pointers are not seen.
//
// Cost: of one kernel linear in the functions that it reaches; with ModuleCalledNeeds, which are linear in the module, in
// the kernel and in the variables.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ir/module.h"
#include "target/occupancy.h"

namespace ptxopt {

struct KernelNeeds {
  // What blocks are taken to have where the PTX does not say: as many warps as an SM has parts, so that the steps
  // of the occupancy are those of the registers alone.
  static constexpr uint32_t kUsualThreads = 128;

  std::optional<uint32_t> threads;  // none: the PTX does not say
  uint64_t sharedBytes = 0;
  bool dynamicShared = false;  // an `extern` variable is mentioned
  bool callsUnseen = false;    // a function without a body, or through a register
  uint32_t barriers = 0;

  target::BlockNeeds block(uint32_t registers) const {
    return {registers, threads.value_or(kUsualThreads), sharedBytes, barriers};
  }
};

// A variable in shared memory.
struct SharedVariable {
  uint64_t key = 0;  // which one, in the order of the layout: those of the module come first
  uint64_t bytes = 0, alignment = 1;
  bool operator==(const SharedVariable& other) const { return key == other.key; }
  auto operator<=>(const SharedVariable& other) const { return key <=> other.key; }
};

// What a function, and all that it reaches, adds to the needs of the kernels that call it.
struct CalledNeeds {
  // In order. Functions share it. More than kMostVariables: all variables of the module.
  std::shared_ptr<const std::vector<SharedVariable>> shared;
  uint32_t barriers = 0;
  bool dynamicShared = false, callsUnseen = false;
};

// For all functions, by Function::index; empty in a module without calls.
struct ModuleCalledNeeds {
  static constexpr std::size_t kMostVariables = 1024;
  std::vector<CalledNeeds> functions;
};

// For the module before passes change any function: other threads may work on functions while the needs of a kernel
// that calls them are asked for.
ModuleCalledNeeds makeCalledNeeds(const Module& module);

// `called`: what is known of the functions that the kernel calls; without it they are read as they are now.
KernelNeeds kernelNeeds(const Module& module, const Function& kernel, const ModuleCalledNeeds* called = nullptr);

// The occupancy of a kernel in stable text, for one block size if the PTX gives it and for several otherwise.
// `registers`: an estimate of what ptxas will give it.
std::string dumpOccupancy(const Module& module, const Function& kernel, const target::Limits& a,
                          uint32_t registers);

}  // namespace ptxopt
