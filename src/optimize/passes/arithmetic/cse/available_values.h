// The registers that hold contents of shared and constant memory, by address, at the current point of a walk
// over an extended basic block. A lane of a vector is an entry of its own.
//
// A load and a store make entries, a store to shared memory ends those that it may overlap, a wall ends all of
// shared memory. At most kMost entries are kept, those that came last. Cost: linear in the entries for each access.
#pragma once

#include <vector>

#include "passes/arithmetic/cse/memory_model.h"
#include "passes/arithmetic/cse/shared_address.h"

namespace ptxopt::cse {

struct HeldLane {
  MemoryAddress address;
  TrackedSpace space = TrackedSpace::Shared;
  ScalarType type = ScalarType::None;  // as it was accessed
  InstrId from;                        // the load, or the store
  RegId reg;
  ValueId value;   // of `reg`, directly after `from`
  InstrId pragma;  // before `from`: it says that not all of the lane is read; none
};

class AvailableValues {
 public:
  void add(const HeldLane& lane) {
    if (lanes_.size() >= kMost) lanes_.erase(lanes_.begin());
    lanes_.push_back(lane);
  }
  // Ends what a store of that many bytes may write over.
  void store(const MemoryAddresses& addresses, const MemoryAddress& at, unsigned bytes) {
    std::erase_if(lanes_, [&](const HeldLane& lane) {
      return lane.space == TrackedSpace::Shared &&
             !addresses.areApart(lane.address, info(lane.type).bits / 8, at, bytes);
    });
  }
  void wall() {
    std::erase_if(lanes_, [](const HeldLane& lane) { return lane.space == TrackedSpace::Shared; });
  }

  // The latest entry first.
  template <typename Accept>
  const HeldLane* find(TrackedSpace space, const MemoryAddress& at, Accept&& accept) const {
    for (std::size_t k = lanes_.size(); k-- > 0;)
      if (lanes_[k].space == space && lanes_[k].address == at && accept(lanes_[k])) return &lanes_[k];
    return nullptr;
  }
  bool empty() const { return lanes_.empty(); }

 private:
  static constexpr std::size_t kMost = 64;
  std::vector<HeldLane> lanes_;  // the latest last
};

}  // namespace ptxopt::cse
