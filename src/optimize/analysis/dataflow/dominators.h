// Dominators and post-dominators of a control-flow graph.
//
// The tree has a virtual root (no block) above the blocks where control may enter (for dominators: the entry and
// blocks whose label is used as a value) or leave (for post-dominators: returns, exits, the end of the text).
// Blocks that can never leave hang below a root of their own: of each endless region the block that comes last in
// the order of the graph. Unreachable blocks are in no tree. Algorithm: Semi-NCA (Georgiadis, "Linear-time
// algorithms for dominators and related problems", 2005), which is linear in practice. Cost: that, and 20 bytes a
// block.
#pragma once

#include <vector>

#include "analysis/dataflow/cfg.h"

namespace ptxopt {

class DominatorTree {
 public:
  enum class Direction : uint8_t { Dominators, PostDominators };

  DominatorTree(const Cfg& cfg, Direction direction);

  // The immediate (post-)dominator; none for a child of the virtual root and for blocks outside the tree.
  BlockId parent(BlockId b) const { return parent_[b.value]; }
  bool contains(BlockId b) const { return enter_[b.value] != 0; }
  // Whether every way to `b` (from `b`, for post-dominators) leads through `a`; a block dominates itself. False
  // when either is outside the tree.
  bool dominates(BlockId a, BlockId b) const {
    return contains(a) && contains(b) && enter_[a.value] <= enter_[b.value] && leave_[b.value] <= leave_[a.value];
  }
  // Distance from the virtual root, 1 for its children.
  uint32_t depth(BlockId b) const { return depth_[b.value]; }
  // Parents before children.
  const std::vector<BlockId>& preOrder() const { return preOrder_; }

  friend bool operator==(const DominatorTree&, const DominatorTree&) = default;

 private:
  std::vector<BlockId> parent_;
  std::vector<uint32_t> enter_, leave_, depth_;
  std::vector<BlockId> preOrder_;
};

}  // namespace ptxopt
