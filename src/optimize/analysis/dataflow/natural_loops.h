// The natural loops of a graph without irreducible regions.
//
// Algorithm:  blocks are taken from the last in depth-first order to the first; of one with back edges, what reaches
//             these backward is its loop, where loops found before count as one block each. (Havlak, "Nesting of
//             reducible and irreducible loops", 1997, without the part for irreducible loops.)
// Cost:       nearly linear in blocks and edges.
// Declines:   graphs with an irreducible region.
#pragma once

#include <vector>

#include "analysis/dataflow/cfg.h"

namespace ptxopt {

class NaturalLoops {
 public:
  explicit NaturalLoops(const Cfg& cfg);

  // False when there is an irreducible region: then nothing else may be asked.
  bool find();
  // The headers in pre-order of the forest, siblings in the order of the graph.
  std::vector<BlockId> headers() const;
  // All reachable blocks.
  const std::vector<BlockId>& blocks() const { return vertex_; }
  bool isHeader(BlockId b) const { return isHeader_[b.value]; }
  // For the loop next around a block, or around the loop whose header it is.
  BlockId headerAround(BlockId b) const { return header_[b.value]; }

 private:
  void number();
  bool isBelow(BlockId b, BlockId above) const {
    return number_[above.value] <= number_[b.value] && number_[b.value] <= lastBelow_[above.value];
  }
  BlockId outermost(BlockId b);
  bool findLoop(BlockId w);

  const Cfg& cfg_;
  std::vector<uint32_t> number_, lastBelow_;  // by block: in depth-first order, and the last that it leads to
  std::vector<BlockId> vertex_;               // by number
  std::vector<bool> isRoot_;
  std::vector<BlockId> outer_, header_;
  std::vector<bool> isHeader_;
  std::vector<BlockId> body_;
};

}  // namespace ptxopt
