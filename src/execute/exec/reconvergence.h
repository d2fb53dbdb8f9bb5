// Where the lanes of a divergent branch meet again: the immediate post-dominator of the branch's block.
//
// Paths that leave the function by exit or trap do not count as a way around a meeting point, those that return do:
// `if (bad) trap;` inside a region does not keep the others from meeting after it. A function that never returns
// is measured by its exits. Algorithm: Cooper, Harvey and Kennedy's iteration over the reversed graph.
#pragma once

#include <vector>

#include "analysis/dataflow/cfg.h"

namespace ptxopt::exec {

class Reconvergence {
 public:
  explicit Reconvergence(const Cfg& cfg);

  // The block where lanes that leave `block` differently meet; none when only the function's end post-dominates it.
  BlockId of(BlockId block) const { return meet_[block.value]; }
  // Whether some divergent branch meets here.
  bool isMeetingPoint(BlockId block) const { return isMeeting_[block.value]; }

 private:
  std::vector<BlockId> meet_;
  std::vector<bool> isMeeting_;
};

}  // namespace ptxopt::exec
