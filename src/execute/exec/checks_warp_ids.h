// Which warp and which cluster is it? Those of later blocks may lie at the addresses of earlier ones; so the checks
// number the warps in the order in which they are made, by the frames of their kernels.
#pragma once

#include <unordered_map>

#include "exec/block.h"

namespace ptxopt::exec {

class WarpIds {
 public:
  // To be called for each new frame.
  void newFrame(const Frame& frame) {
    if (frame.caller == nullptr) of_[&frame] = ++count_;
  }
  // For a warp that is running.
  uint64_t of(Warp& warp) const {
    const Frame* f = warp.path().frame;
    while (f->caller != nullptr) f = f->caller;
    return of_.at(f);
  }
  // For the first warp of its cluster, whose warps are made one after the other.
  uint64_t ofCluster(Warp& warp) const {
    Block& b = warp.block();
    return of(warp) - b.rank() * b.warps().size() - warp.index();
  }

 private:
  std::unordered_map<const Frame*, uint64_t> of_;
  uint64_t count_ = 0;
};

}  // namespace ptxopt::exec
