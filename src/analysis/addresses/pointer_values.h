// Numbers for the values of the registers that can hold an address of 64 bits: scalars of b64, u64 and s64.
//
// What a data-flow analysis over pointers keeps per value lies in one dense array by these numbers. Values that no
// instruction makes, phis and what is there on entry, are listed by the block they begin in. Cost: linear in
// values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/dataflow/live_intervals.h"

namespace ptxopt {

bool canHoldPointer(ScalarType t);

class PointerValues {
 public:
  struct Value {
    RegId reg;
    ValueId value;
  };

  PointerValues(const Function& f, const Cfg& cfg, const SlotIndexes& slots, const LiveIntervals& intervals);

  std::size_t size() const { return size_; }
  bool contains(RegId r) const { return start_[r.value] != kNone; }
  // The number of a value of a register that is contained.
  std::size_t operator()(RegId r, ValueId v) const { return start_[r.value] + v.value; }
  std::span<const Value> beginning(BlockId b) const { return begin_[b.value]; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  std::vector<uint32_t> start_;  // by RegId: the number of its first value
  std::vector<std::vector<Value>> begin_;
  uint32_t size_ = 0;
};

}  // namespace ptxopt
