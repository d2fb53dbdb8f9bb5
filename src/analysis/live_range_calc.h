// One live range from the places where its register is read and written.
//
// Algorithm, for a register that is live across blocks:
//   1. Blocks where it is live-in: backward from the blocks that read it before they write it in full, through
//   those
//      that do not write it.
//   2. Values that reach the ends of blocks. A register with one definition that dominates them all needs nothing
//   more
//      (the single-value fast path). Otherwise values are carried through the live-in blocks in reverse post-order,
//      again until nothing changes; where different ones meet a phi begins. Where the graph is reducible these are
//      the phis of pruned minimal SSA form; an irreducible region may get more than it needs, which is correct as
//      well. A block where control enters begins with the entry value if the register is live-in there.
//   3. Segments, block by block: a whole block for a value that lives through, parts for the others.
// One calculator serves all registers of a function; its tables are reset by what was touched only.
// (The vocabulary is that of LLVM's LiveRangeCalc; the way to the phis is another.)
#pragma once

#include <span>
#include <vector>

#include "analysis/cfg.h"
#include "analysis/live_range.h"
#include "analysis/slot_indexes.h"

namespace ptxopt {

// One mention of a register, in the order of the text.
struct Occurrence {
  SlotIndex at;  // Block slot of the instruction, or the end of a block for a read where the function returns there
  bool reads = false;
  bool writes = false;  // with reads: a partial definition, unless the instruction only happens to do both
  bool isPartial = false;
};

class LiveRangeCalc {
 public:
  LiveRangeCalc(const Cfg& cfg, const SlotIndexes& slots);

  // Adds what `occurrences` imply to `range`, which is empty. `isParameter`: defined at the entry.
  void calculate(std::span<const Occurrence> occurrences, bool isParameter, LiveRange& range);

 private:
  struct BlockState {
    uint32_t epoch = 0;  // of the register that the rest is about
    bool liveIn = false;
    bool inBlocks = false;         // in `blocks_`
    uint32_t first = 0, last = 0;  // its occurrences, [first, last)
    ValueId in, out;               // at the start and the end; none: not known, or not live
    bool writes = false;
  };

  BlockState& state(BlockId b);
  void findBlocks(std::span<const Occurrence> occurrences);
  void findLiveIn(std::span<const Occurrence> occurrences);
  void carryValues(LiveRange& range);
  void makeSegments(std::span<const Occurrence> occurrences, LiveRange& range);
  void local(std::span<const Occurrence> occurrences, LiveRange& range);

  const Cfg& cfg_;
  const SlotIndexes& slots_;
  std::vector<uint32_t> order_;  // by block: reverse post-order number
  std::vector<bool> isRoot_;
  std::vector<BlockState> states_;
  uint32_t epoch_ = 0;
  std::vector<BlockId> blocks_;  // where the register occurs, then also where it is live-in
  std::vector<BlockId> liveIn_;
  std::vector<BlockId> work_;
  std::vector<ValueId> definitions_;  // by occurrence
};

}  // namespace ptxopt
