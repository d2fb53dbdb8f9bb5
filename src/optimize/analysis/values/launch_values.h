// Values that are one for all threads of a block, from its launch on: what they are made of is known when it
// starts.
//
// What:       as uniform_registers.h, but value by value of registers that are written many times, with what is
//             loaded from memory as launched (launch_memory.h) and through exchanges between lanes: a shuffle of a
//             value that all lanes have gives that value, whichever lane it comes from.
// States:     optimistic. A value is Open until something is known of it; then it is the same as another (its
//             leader), or as the lower or upper half of one; or a leader itself, one that an instruction computes
//             from others; or it differs. Copies, shuffles and phis of equal values have their source's leader, and
//             a pair of both halves that of the whole. Phis of different values differ: threads may come different
//             ways.
// Assumed:    edges that the caller says will not be there are not looked at.
// Misses:     guarded and partial definitions, vector registers, values on entry, which may be anything.
// Cost:       linear in operands for each sweep, at most kMostSweeps; 12 bytes a value.
#pragma once

#include <span>
#include <vector>

#include "analysis/addresses/launch_memory.h"
#include "analysis/values/value_flow.h"

namespace ptxopt {

// What is known of a value in LaunchValues.
enum class LaunchPart : uint8_t { Whole, Low, High };
struct LaunchState {
  static constexpr uint32_t kOpen = UINT32_MAX, kDiffers = UINT32_MAX - 1;
  uint32_t leader = kOpen;  // a value's number
  LaunchPart part = LaunchPart::Whole;

  // Whether all threads have it.
  bool isOne() const { return leader < kDiffers; }
  friend bool operator==(LaunchState, LaunchState) = default;
};

class LaunchValues : ValueFlow<LaunchValues, LaunchState> {
 public:
  struct Edge {
    BlockId from, to;
  };
  using Part = LaunchPart;
  using State = LaunchState;

  LaunchValues(const Module& module, const Function& function, const Cfg& cfg, const SlotIndexes& slots,
               const LiveIntervals& intervals, const LaunchMemory& memory, std::span<const Edge> without = {});

  // What instruction `id` reads in `r`, and what is in `r` after it.
  State read(RegId r, InstrId id) const { return stateRead(r, id); }
  State written(RegId r, InstrId id) const { return stateWritten(r, id); }
  // Whether an instruction's results depend on its sources alone, and nothing else on it.
  static bool isComputation(const OpcodeForm& form);
  // Where the leader of a state that is one is made.
  SlotIndex placeOf(State s) const;

 private:
  static constexpr unsigned kMostSweeps = 100;
  friend ValueFlow;

  static State join(State a, State b);
  static State unknown() { return {State::kDiffers}; }
  State entering(const FlowValue& v, BlockId b, bool isRoot) const;
  State fromEdge(RegId r, ValueId v) const { return at(r, v); }
  bool ignores(BlockId from, BlockId to) const;
  bool raise(uint32_t value, State to);
  State made(InstrId id, const Operand& to, uint32_t own) const;
  State moved(InstrId id, std::span<const Operand> to, std::span<const Operand> from, std::size_t index,
              uint32_t own) const;
  State source(const Operand& o, InstrId id, uint32_t own) const;

  const LaunchMemory& memory_;
  std::span<const Edge> without_;
};

}  // namespace ptxopt
