// What an instruction means for values that were loaded from, or stored to, shared and constant memory.
//
//   None    what was read before can be read again: it writes no shared memory and orders nothing
//   Load    a plain load of shared or constant memory
//   Store   a plain store to shared memory
//   Wall    shared memory may hold anything after it
// Plain is what PTX calls weak: no .volatile, .relaxed, .acquire, .release, .mmio. Another thread may not write
// what a weak load reads unless something orders the two, and what orders is a wall: barriers (bar.warp.sync, too),
// fences, mbarriers, atomics, reductions and ordered accesses in any space, waits for what is asynchronous. Walls
// are also calls, all that is asynchronous, and whatever may write where it does not say: generic stores, stores to
// shared memory of the cluster, stmatrix, opcodes that are not in the table. Only what is known to do nothing of
// that is None: shfl, vote, match, redux, activemask, elect, mma and ldmatrix order no memory (ptxas uses loaded
// values after them itself), loads do not write, weak stores to global and local memory and to parameters write
// elsewhere. Constant memory never changes while a kernel runs: no wall matters to it.
//
// A function of the opcode alone; guards are the caller's affair. Cost: linear in the modifiers, once for each
// opcode.
#pragma once

#include <vector>

#include "ir/module.h"

namespace ptxopt::cse {

enum class MemoryEffect : uint8_t { None, Load, Store, Wall };
enum class TrackedSpace : uint8_t { Shared, Constant };

// One opcode.
struct MemoryOperation {
  MemoryEffect effect = MemoryEffect::Wall;
  TrackedSpace space = TrackedSpace::Shared;  // of Load and Store
  ScalarType type = ScalarType::None;         // of a lane
  uint8_t lanes = 1;

  unsigned laneBytes() const { return info(type).bits / 8; }
  unsigned bytes() const { return laneBytes() * lanes; }
};
MemoryOperation memoryOperation(const OpcodeForm& form);

// The operations of a module's opcodes, each read when first asked for.
class MemoryModel {
 public:
  explicit MemoryModel(const Module& module) : module_(module), known_(module.opcodes.size()) {}
  const MemoryOperation& of(const Instruction& i);

 private:
  struct Known {
    bool isRead = false;
    MemoryOperation operation;
  };
  const Module& module_;
  std::vector<Known> known_;  // by OpcodeId
};

}  // namespace ptxopt::cse
