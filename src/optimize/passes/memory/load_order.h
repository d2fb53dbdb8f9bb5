// What a weak load may be moved over in its block.
//
// A load that is moved reads the same, and nothing is read that was not read before, if nothing between may write what
// it reads, order it, or keep control from coming to it. So
//   Free     computes registers, or reads memory weakly: loads may cross it
//   Slow     the same, but ptxas makes a call of it (becomesCall)
//   Store    a plain weak store: a load may cross it if the two certainly have no byte in common
//   Wall     all else: what is ordered, volatile, asynchronous, convergent or atomic, barriers, fences, calls, stores of
//            call parameters, opcodes without a row, reads of special registers that change, labels, pragmas, declared
//            variables
// Scopes, declared registers, .loc and the pragma of a load are Free; which names mean the same is the caller's affair.
//
// A load and a store are apart where
//   - the load is of constant memory, of a kernel's parameter, or .nc, which PTX promises is written by nobody while
//     the kernel runs,
//   - both say their spaces, and these differ, or
//   - they say the same one, and the addresses are apart (cse/shared_address.h).
// Two weak loads may change places: only ordered ones, which are walls, are ordered among each other.
// Cost: linear in operands; addresses are those of scalar evolution, asked for only where a store is in the way.
#pragma once

#include <optional>

#include "passes/arithmetic/cse/shared_address.h"
#include "passes/manager/pass.h"

namespace ptxopt {

enum class LoadBarrier : uint8_t { Free, Slow, Store, Wall };

class LoadOrder {
 public:
  LoadOrder(const Function& f, PassContext& context) : f_(f), context_(context), module_(context.module) {}

  LoadBarrier barrier(InstrId id) const;
  // A load that may move at all: weak, with no more than a space, a vector, a cache operator and hints, and not the one
  // that a pragma describes.
  bool isMovable(InstrId id) const;
  // Whether a Store may write what a movable load reads.
  bool mayWrite(InstrId store, InstrId load);

 private:
  bool isBeforeLoad(InstrId pragma) const;
  bool isParameterOfKernel(InstrId load) const;
  bool areApart(InstrId store, InstrId load);

  const Function& f_;
  PassContext& context_;
  const Module& module_;
  std::optional<cse::MemoryAddresses> addresses_;
};

}  // namespace ptxopt
