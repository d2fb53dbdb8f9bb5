// Asynchronous copies: what has been asked for and has not arrived.
//
// Bytes arrive when a thread waits for them and not before, so that a missing wait shows:
//   cp.async            at its thread's wait_group or wait_all, or at a wait for the mbarrier that
//                       cp.async.mbarrier.arrive made to track it
//   cp.async.bulk with an mbarrier, st.async, red.async
//                       at the first test_wait or try_wait on that mbarrier that finds the phase not complete
//   cp.async.bulk, cp.reduce.async.bulk with a bulk group
//                       at its thread's bulk.wait_group; what is never waited for and goes to global memory arrives
//                       when the cluster is done
// Addresses are checked when the instruction is executed. The source is read then and compared with what is there
// on arrival (bulk groups: at wait_group.read): bytes that changed in between are a data race, reported as such.
//
// One object serves a cluster, whose blocks run on one host thread; every warp that has used it points to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "exec/instructions/atomic_operations.h"

namespace ptxopt::exec {

class Binder;
class Warp;

// A copy by cp.async.
struct SmallCopy {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::array<std::byte, 16> bytes{};  // zeros after what is read
  uint8_t size = 0;
  uint8_t read = 0;
  uint32_t group = 0;
};

// A bulk copy or reduction, or a store or reduction that an mbarrier tracks.
struct BulkCopy {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;  // nullptr: the bytes came from registers, or were read already
  std::vector<std::byte> bytes;
  atomics::Reducer reduce;     // empty: copy
  uint16_t byteMask = 0xffff;  // of each 16 bytes
  bool toGlobal = false;
  uint32_t group = 0;
};

struct AsyncCopies {
  AsyncCopies() = default;
  AsyncCopies(const AsyncCopies&) = delete;
  AsyncCopies& operator=(const AsyncCopies&) = delete;
  ~AsyncCopies();

  struct Thread {
    std::deque<SmallCopy> copies;  // oldest first
    uint64_t arrived = 0;          // copies that are no longer there
    uint32_t group = 0;            // the group that is open
    std::deque<BulkCopy> bulk;
    uint32_t bulkGroup = 0;
  };
  // What an mbarrier waits for: a copy, or that a thread's copies up to a number have arrived.
  struct Expected {
    BulkCopy copy;
    bool isArrival = false;
    uint64_t thread = 0;
    uint64_t copies = 0;
  };

  std::unordered_map<uint64_t, Thread> threads;  // by rank in the cluster and index in the block
  std::unordered_map<std::byte*, std::vector<Expected>> expected;
};

// Lets arrive all that waits for the mbarrier at `p`. `lane` is the one that waits.
void deliverCopies(Warp& warp, unsigned lane, std::byte* p);
// Drops it: the mbarrier begins or ends.
void forgetCopies(Warp& warp, std::byte* p);
// Adds to what the mbarrier waits for.
void expectAt(Warp& warp, std::byte* mbarrier, BulkCopy copy);

// red.async and st.async with an mbarrier, and st.bulk; the modifier .async or .bulk is taken.
void bindAsyncReduction(Binder& b);
void bindAsyncStore(Binder& b);
void bindBulkStore(Binder& b);

}  // namespace ptxopt::exec
