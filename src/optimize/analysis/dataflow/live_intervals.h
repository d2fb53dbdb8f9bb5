// The live range of every register of a function.
//
// Computed register by register (live_range_calc.h), from lists of where each is read and written that are made in
// one walk over the instructions. In which blocks a register is live at the start is taken from the sets of liveness where
// these are at hand; otherwise it is looked for backward from the reads, which costs less than solving liveness. Only reachable code counts. Registers of the parameter list begin with an entry
// value, as do registers that are read before they are written on some path; result registers are read where the
// function returns.
// Intervals of the function as it was are brought up to date where its edges are the same and instructions kept their
// numbers: ranges of registers that are mentioned in the same places stay (register_mentions.h).
// Cost: linear in the operands plus, for each register that lives across blocks, the blocks where it is live; to bring
// up to date, linear in the operands plus the same for the registers that are mentioned otherwise.
#pragma once

#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "analysis/dataflow/dominators.h"
#include "analysis/dataflow/live_range.h"
#include "analysis/dataflow/liveness.h"
#include "analysis/dataflow/register_mentions.h"
#include "analysis/dataflow/slot_indexes.h"

namespace ptxopt {

class LiveIntervals {
 public:
  // `dominators` is made here when there is none; it must live as long as the intervals. `liveness`, where there is one, is
  // a solution of strength `Plain`, best by sets: the bypass has none, and what is sparse has more blocks than are worth a
  // list.
  LiveIntervals(const Function& function, const Cfg& cfg, const SlotIndexes& slots,
                const DominatorTree* dominators = nullptr, const Liveness* liveness = nullptr);
  // The ranges of some registers only; those of the others stay empty.
  LiveIntervals(const Function& function, const Cfg& cfg, const SlotIndexes& slots, const DominatorTree& dominators,
                std::span<const RegId> only);

  // Brings `before`, of all registers, up to date. The function had the same edges, and its numbers were updated since.
  LiveIntervals(const Function& function, const Cfg& cfg, const SlotIndexes& slots, const DominatorTree& dominators,
                LiveIntervals&& before);

  std::size_t size() const { return ranges_.size(); }
  const LiveRange& operator[](RegId r) const { return ranges_[r.value]; }

  // An error in words, or an empty string: whether each range is well formed.
  std::string verify() const;

  friend bool operator==(const LiveIntervals& a, const LiveIntervals& b) { return a.ranges_ == b.ranges_; }

 private:
  // `mentions`: those of the wanted registers.
  void compute(const SlotIndexes& slots, const std::vector<uint8_t>& isWanted,
               std::span<const RegisterMention> mentions, const Liveness* liveness = nullptr);

  const Function& f_;
  const Cfg& cfg_;
  std::unique_ptr<const DominatorTree> ownDominators_;
  const DominatorTree& dominators_;
  std::unique_ptr<std::pmr::monotonic_buffer_resource> memory_;
  std::vector<LiveRange> ranges_;  // by RegId
  RegisterMentions mentions_;      // of the function that they were made of
};

}  // namespace ptxopt
