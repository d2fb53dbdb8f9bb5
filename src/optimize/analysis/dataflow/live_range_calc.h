// One live range from the places where its register is read and written.
//
// Algorithm, for a register that is live across blocks:
//   1. Blocks where it is live-in, given or found: backward from the blocks that read it before they write it in full,
//      through those that do not write it. A block where control enters begins with the entry value if it is one of
//      them.
//   2. The value that each live-in block begins with. When there is only one value, it is that (the single-value
//      fast path). Otherwise a block takes the value at the end of its immediate dominator, unless a predecessor
//      ends with another one that was defined below that dominator: there a phi begins. Again, in reverse
//      post-order, until nothing changes. The phis are those of pruned minimal SSA form, whatever the graph: a
//      value defined below the dominator that reaches a predecessor puts the block into its dominance frontier, and
//      values that have not come all the way down yet are not a reason for a phi, since they were defined above.
//   3. Segments, block by block: a whole block for a value that lives through, parts for the others.
// A register that is written once and never read before that, as most are, needs neither 2 nor a look at each block:
// where it is live-in is a set of bits, and each run of bits is a segment, cut where a block reads the value for the
// last time. One calculator serves all registers of a function; its tables are made for the first register that needs
// them, and reset by what was touched only. Whether a
// register is live in a block is a bit: there may be many such blocks for each of many registers, and what is asked
// of each of them should stay near.
// (The vocabulary, and the test in step 2, are those of LLVM's LiveRangeCalc.)
#pragma once

#include <span>
#include <vector>

#include "analysis/dataflow/cfg.h"
#include "analysis/dataflow/dominators.h"
#include "analysis/dataflow/live_range.h"
#include "analysis/dataflow/slot_indexes.h"
#include "support/bit_vector.h"

namespace ptxopt {

// One mention of a register, in the order of the text.
struct SlotOccurrence {
  // Block slot of the instruction. Another slot: the value is read where the function returns at the end of the
  // block that owns the place.
  SlotIndex at;
  bool reads = false;
  bool writes = false;
  bool isPartial = false;  // what it writes keeps something of the value before; it reads then as well
};

class LiveRangeCalc {
 public:
  LiveRangeCalc(const Cfg& cfg, const DominatorTree& dominators, const SlotIndexes& slots);

  // Adds what `occurrences`, all in reachable blocks and in the order of the text, imply to `range`, which is
  // empty.
  void calculate(std::span<const SlotOccurrence> occurrences, LiveRange& range);
  // With the reachable blocks where the register is live at the start, ascending.
  void calculate(std::span<const SlotOccurrence> occurrences, std::span<const uint32_t> liveIn, LiveRange& range);

 private:
  // A block that mentions the register.
  struct Mention {
    BlockId block;
    uint32_t first = 0, last = 0;  // its occurrences, [first, last)
  };
  // At the start and the end of a block; none: not known, or not live.
  struct Values {
    ValueId in, out;
  };
  // Numbers below a bound in ascending order, each once, those of one register at a time.
  class Sorter {
   public:
    void setBound(std::size_t bound) { words_.resize((bound + 63) / 64); }
    void sort(std::vector<uint32_t>& numbers);

   private:
    std::vector<uint64_t> words_;  // all zero in between
  };

  bool isLocal(std::span<const SlotOccurrence> occurrences) const;
  void calculate(std::span<const SlotOccurrence> occurrences, bool isWrittenOnce, LiveRange& range);
  void makeTables();
  void makeOrder();
  bool findMentions(std::span<const SlotOccurrence> occurrences);
  void findLiveIn(std::span<const SlotOccurrence> occurrences);
  void makeValues(std::span<const SlotOccurrence> occurrences);
  void carryValues();
  void sortLiveBlocks();
  // For a reachable block, once live-in blocks are known.
  bool startsLive(BlockId b) const { return isLiveIn_.test(b.value); }
  void makeSegments(std::span<const SlotOccurrence> occurrences);
  void appendMention(const Mention& mention, bool isLiveIn, std::span<const SlotOccurrence> occurrences);
  void reset();
  void local(std::span<const SlotOccurrence> occurrences, LiveRange& range);
  bool isLiveAtEntry() const;
  // For a register that one occurrence writes, live-in in no block where control enters.
  void single(std::span<const SlotOccurrence> occurrences, LiveRange& range);
  // Calls `visit(first, end)` for each run of live-in blocks, ascending.
  template <typename Visit>
  void forEachRun(Visit visit);

  const Cfg& cfg_;
  const DominatorTree& dominators_;
  const SlotIndexes& slots_;
  std::vector<uint32_t> order_;  // by block: its place in the reverse post-order
  BitVector isRoot_;             // by block: control enters
  BitVector goesBack_;           // by block: it has a successor that is not after it in that order
  BitVector comesBack_;          // by place: it is such a successor
  BitVector joins_;              // by place: it has several predecessors
  BitVector writes_;             // by block: it writes the register
  BitVector closed_;             // by block: it writes the register, or has been found live-in, or is unreachable
  std::vector<Mention> mentions_;
  std::vector<uint32_t> liveBlocks_;  // where it is live-in
  bool isSorted_ = false;             // they are
  BitVector isLiveIn_;                // the same
  std::vector<uint32_t> found_;       // for findLiveIn: as long as there are blocks
  std::vector<uint32_t> places_;      // theirs in the reverse post-order
  Sorter sorter_;
  std::vector<Values> values_;          // by block; those of a single value are not carried
  std::vector<ValueId> definitions_;    // by occurrence
  std::vector<BlockId> definingBlock_;  // by value
  bool isSingle_ = false;
  LiveRange range_;  // in the making, so that the result is allocated once
};

}  // namespace ptxopt
