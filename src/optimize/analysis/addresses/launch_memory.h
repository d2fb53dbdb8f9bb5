// Which loads of a kernel read memory as it was when the kernel began.
//
// What:       A weak load of global memory before which this thread can have written no global memory and met nothing
//             that orders what others wrote: no store (other than to shared or local memory), atomic, fence,
//             ordered or volatile access, call, asynchronous operation or unknown opcode on any way from the
//             kernel's entry. What another thread writes without such an order may not be what a weak load reads:
//             that would be a race, and the program wrong. ld.global.nc reads what never changes.
// Spaces:     A load that names no space may read global memory, but also shared memory (of this block or of
//             another one of the cluster), local memory or parameters. These change in ways that are not examined
//             here, and are not the same for all threads. So it counts only where `spaces` shows that its address
//             lies in global memory. Loads that name a space other than .global never count; callers handle
//             constant memory and kernel parameters, which nothing changes, themselves.
// Barriers:   a barrier also orders what the other threads at it have written. If no barrier of the kernel can be
//             reached after a write, none of them has written anything. Otherwise, and in kernels with calls,
//             which may hide barriers, memory does not count as launched after a barrier.
// Cost:       linear, each block twice for each of two iterations at most.
#pragma once

#include <vector>

#include "analysis/dataflow/cfg.h"

namespace ptxopt {

class AddressSpaces;

enum class GlobalEffect : uint8_t {
  None,
  Barrier,  // between threads of a warp, a block or a cluster
  Changes,  // global memory may hold anything after it
};

class LaunchMemory {
 public:
  // Without `spaces` nothing is known of loads that name no space.
  LaunchMemory(const Module& module, const Function& function, const Cfg& cfg,
               const AddressSpaces* spaces = nullptr);

  // Whether instruction `id`, a load, reads the same whichever thread executes it, whenever.
  bool isAsLaunched(InstrId id) const { return isUnwritten_[id.value] && readsGlobal(id); }
  // The same if what it reads is global memory.
  bool isAsLaunchedIfGlobal(InstrId id) const { return isUnwritten_[id.value]; }
  // Whether it is so because nobody may write what is read.
  bool isConstant(InstrId id) const;
  GlobalEffect effectOf(InstrId id) const;

 private:
  GlobalEffect effectOf(const OpcodeForm& form) const;
  bool isWeakLoad(const OpcodeForm& form) const;
  bool readsGlobal(InstrId id) const;
  std::vector<bool> changedBlocks(bool barriersChange, bool& meetsBarrier) const;

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  const AddressSpaces* spaces_;
  std::vector<GlobalEffect> effects_;  // by OpcodeId
  std::vector<bool> isUnwritten_;      // by InstrId
};

}  // namespace ptxopt
