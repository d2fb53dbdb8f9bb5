// Which loads of a kernel read memory as it was when the kernel began.
//
// What:       A weak load of global memory, or of a generic address, before which this thread can have written no
//             global memory and met nothing that orders what others wrote: no store (other than to shared or local
//             memory), atomic, fence, ordered or volatile access, call, asynchronous operation or unknown opcode on
//             any way from the kernel's entry. What another thread writes without such an order may not be what a
//             weak load reads: that would be a race, and the program wrong. ld.global.nc reads what never changes.
// Barriers:   order what those have written that wait at one, too. None of them wrote anything if no barrier of
//             the kernel can be met behind a write; otherwise, and where there are calls, which may hide barriers,
//             each barrier ends what is as launched.
// Cost:       linear, each block twice for each of two rounds at most.
#pragma once

#include <vector>

#include "analysis/cfg.h"

namespace ptxopt {

enum class GlobalEffect : uint8_t {
  None,
  Barrier,  // between threads of a warp, a block or a cluster
  Changes,  // global memory may hold anything behind it
};

class LaunchMemory {
 public:
  LaunchMemory(const Module& module, const Function& function, const Cfg& cfg);

  // Of instruction `id`, a load: it reads the same whichever thread executes it, whenever.
  bool isAsLaunched(InstrId id) const { return asLaunched_[id.value]; }
  // Whether it is so because nobody may write what is read.
  bool isConstant(InstrId id) const;
  GlobalEffect effectOf(InstrId id) const;

 private:
  GlobalEffect effectOf(const OpcodeForm& form) const;
  bool isWeakLoad(const OpcodeForm& form) const;
  std::vector<bool> changedBlocks(bool barriersChange, bool& meetsBarrier) const;

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  std::vector<GlobalEffect> effects_;  // by OpcodeId
  std::vector<bool> asLaunched_;       // by InstrId
};

}  // namespace ptxopt
