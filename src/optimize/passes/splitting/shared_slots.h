// Slots in .shared memory, one for each thread, that hold what registers held.
//
// Slot k of thread t is word (or pair of words) k * threads + t of an array, so that the threads of a warp touch
// neighbours. t is the flat thread number: of .maxntid only the product is certain, so unless .reqntid gives one
// dimension it is made of all three of %tid. The address is made anew in each block that needs it, from special
// registers alone, so that it takes no register in between. A thread reads only what it wrote: no barriers.
// Why a kernel may not:
//   no-launch-bound        the PTX does not say how many threads a block has, or more than 1024
//   dynamic-shared         what the launch adds may leave no room, and code may ask for its size
//   unknown-callee         a function without a body may have shared memory that is not seen
// Cost: linear.
#pragma once

#include <optional>

#include "analysis/machine/kernel_needs.h"
#include "passes/manager/pass.h"

namespace ptxopt {

std::string_view whyNoSlots(const Module& module, const Function& f, const KernelNeeds& needs);

class SharedSlots {
 public:
  static constexpr uint64_t kMostBytes = 48 << 10;  // of .shared variables, on every machine

  explicit SharedSlots(const KernelNeeds& needs) : threads_(needs.threads.value_or(0)), taken_(needs.sharedBytes) {}

  // Whether one more slot of that many words has room.
  bool hasRoom(uint32_t words) const;
  uint32_t add(uint32_t words) { return slots_[words - 1]++; }
  uint64_t bytes() const { return bytes(slots_[0], slots_[1]); }
  // What the kernel takes with the slots.
  uint64_t allBytes() const;

  // Declares the arrays; no more slots from here on.
  void declare(const Module& module, Function& f);
  // In another block of the function an address that was made is not there.
  void startBlock() { addresses_ = {}; }
  // Puts a store of `r` to a slot, or a load of it, before `place`.
  void access(const Module& module, Function& f, RegId r, uint32_t slot, bool isStore, InstrId place);

 private:
  uint64_t bytes(uint64_t words, uint64_t pairs) const { return threads_ * (4 * words + 8 * pairs); }
  RegId address(const Module& module, Function& f, uint32_t words, InstrId place);

  uint64_t threads_, taken_;
  std::array<uint32_t, 2> slots_{};  // of one word and of two
  std::array<VariableId, 2> arrays_;
  std::array<RegId, 2> addresses_;
};

}  // namespace ptxopt
