// The loops of a function, nested.
//
// A loop is a maximal strongly connected set of blocks, and, inside it, those that remain when its header is taken
// out. One that control enters at a single block is a natural loop with that block as header. One with several
// entries is an irreducible region: its header is the entry that comes first in reverse post-order, and nothing but
// its membership should be relied on. Unreachable blocks are in no loop. Algorithm: nestedLoops() (support/graph.h);
// where there is no irreducible region, which is nearly always, a faster way to the same result (natural_loops.h).
// Cost: nearly linear; edges times nesting depth where there is such a region.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "analysis/dataflow/cfg.h"

namespace ptxopt {

using LoopId = Id<struct LoopTag>;

struct Loop {
  BlockId header;
  LoopId parent;       // the loop around it
  uint32_t depth = 1;  // 1 for an outermost loop
  bool irreducible = false;
  // Slices of the forest's arrays; see the accessors of Loops.
  uint32_t firstBlock = 0, blockCount = 0;
};

class Loops {
 public:
  explicit Loops(const Cfg& cfg);

  std::size_t size() const { return loops_.size(); }
  const Loop& operator[](LoopId l) const { return loops_[l.value]; }
  // Whether no loop is in it. Loops stand in pre-order.
  bool isInnermost(LoopId l) const { return l.value + 1 == loops_.size() || loops_[l.value + 1].parent != l; }
  // The innermost loop that a block belongs to; none outside loops.
  LoopId of(BlockId b) const { return loopOf_[b.value]; }
  uint32_t depth(BlockId b) const { return of(b).valid() ? loops_[of(b).value].depth : 0; }
  // How often a block is executed if every loop runs eight iterations. The outer five of nested loops count.
  uint64_t assumedCount(BlockId b) const { return uint64_t{1} << 3 * std::min(depth(b), 5u); }
  bool contains(LoopId l, BlockId b) const {
    const uint32_t at = place_[b.value];
    return at - loops_[l.value].firstBlock < loops_[l.value].blockCount;
  }
  // All blocks, those of inner loops included; the header first.
  std::span<const BlockId> blocks(LoopId l) const {
    return {blocks_.data() + loops_[l.value].firstBlock, loops_[l.value].blockCount};
  }
  // Blocks inside from which an edge leads to the header.
  std::vector<BlockId> latches(const Cfg& cfg, LoopId l) const;
  // The only predecessor of the header outside the loop, if its only successor is the header; none otherwise.
  BlockId preheader(const Cfg& cfg, LoopId l) const;
  // The only reachable block from which control enters the header from outside; none where there are several.
  BlockId entry(const Cfg& cfg, LoopId l) const;
  // Blocks where control enters from outside; several for an irreducible region.
  std::vector<BlockId> entries(const Cfg& cfg, LoopId l) const;
  struct Exit {
    BlockId from, to;  // `to` is none where control leaves the function (a guarded ret, exit or trap)
  };
  std::vector<Exit> exits(const Cfg& cfg, LoopId l) const;

  friend bool operator==(const Loops&, const Loops&);

 private:
  bool findNatural(const Cfg& cfg);
  void findAll(const Cfg& cfg);

  std::vector<Loop> loops_;  // in pre-order
  std::vector<LoopId> loopOf_;
  std::vector<BlockId> blocks_;
  std::vector<uint32_t> place_;  // by block: where in blocks_, UINT32_MAX outside loops
};

}  // namespace ptxopt
