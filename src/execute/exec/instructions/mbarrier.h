// The mbarrier object: 64 bits in shared memory.
//
//     bits 0..19   arrivals that the current phase still waits for
//     bits 20..39  arrivals that the next phase will wait for
//     bits 40..60  transactions (bytes) that are expected and have not come, two's complement
//     bit  62      set: mbarrier.init has made it and mbarrier.inval not ended it
//     bit  63      parity of the current phase
//
// A phase completes when no arrivals and no transactions are missing; the next begins with that. The state that
// mbarrier.arrive returns is the object before it, which says its phase and, to mbarrier.pending_count, its
// arrivals.
//
// What asynchronous copies bring to an mbarrier is held back until a thread waits there (async_copy.h). It must
// also come before the first arrival of the next phase, if a program knows by other means that the phase has
// completed.
//
// Faults: an object that was not initialised, more arrivals than are awaited, counts outside the ISA's ranges,
// .noComplete that completes a phase. The ISA leaves them undefined.
// Blocks of a cluster run on one host thread, so that nothing here need be atomic.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ptxopt::exec {

class Warp;

class Mbarrier {
 public:
  static constexpr uint32_t kMostArrivals = (1u << 20) - 1;
  static constexpr int64_t kMostTransactions = (1 << 20) - 1;

  // The object at `p` as `lane` uses it.
  Mbarrier(Warp& warp, unsigned lane, std::byte* p) : warp_(warp), lane_(lane), p_(p) {}

  void init(uint32_t count);
  void invalidate();
  // Arrives `count` times; with `drop` also asks for as many fewer from the next phase on. Returns the state
  // before.
  uint64_t arrive(uint32_t count, bool drop, bool mayComplete);
  // More (positive) or fewer transactions are awaited.
  void transactions(int64_t change);
  // One more arrival is awaited in this phase.
  void expectArrival();
  // Has the phase with this parity completed? Lets arrive what was held back if not.
  bool completed(bool parity);

  static bool parityOf(uint64_t state) { return state >> 63 != 0; }
  static uint32_t pendingOf(uint64_t state) { return static_cast<uint32_t>(state) & kMostArrivals; }

 private:
  struct State {
    uint32_t pending = 0;
    uint32_t expected = 0;
    int64_t transactions = 0;
    bool parity = false;
  };
  State load() const;
  void store(State s) const;  // completes the phase if nothing is missing
  uint64_t raw() const;
  [[noreturn]] void fail(const char* what) const;

  Warp& warp_;
  unsigned lane_;
  std::byte* p_;
};

}  // namespace ptxopt::exec
