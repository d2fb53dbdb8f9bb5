// Which registers live through which loops without being mentioned there, and may be taken out of them.
//
// Algorithm:  for each register, the highest first, the loops whose headers lie in its live range and that have
//             none of its mentions (marked up the loop tree). The outermost of nested loops is taken.
// Cost:       linear in operands and in pairs of a loop and a register live through it, times a logarithm.
// Declines:   those of whyUnsplittable and of loop_ways.h; shared-exit (a way out that the register needs is shared
//             with ways around the loop), meets-itself (the same further down), scope (its name may mean another
//             register there), carried-already (it is only copied), budget (too many look-ups).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "passes/splitting/loop_ways.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {

class LoopCandidates {
 public:
  // The registers that may be taken out of each loop. Counts why others may not.
  LoopCandidates(const Function& f, PassContext& context, const Occurrences& occurrences,
                 const RegisterScopes& scopes, MissedRemarks& missed);

  // Whether any register lives through a loop.
  bool found() const { return found_; }
  // In the order in which they were found.
  const std::vector<RegId>& of(LoopId l) const { return candidates_[l.value]; }
  // For a loop with candidates.
  const LoopWays& ways(LoopId l) const { return *ways_[l.value]; }
  bool isNeeded(RegId reg, const LoopWays::Out& out) const { return intervals_[reg].isLiveAt(out.start); }

 private:
  static constexpr std::size_t kMostLookups = 64;  // an instruction

  void collect(MissedRemarks& missed);
  void markMentions(RegId reg, std::vector<RegId>& mentions) const;
  void chooseLoops(RegId reg, const std::vector<LoopId>& through, MissedRemarks& missed);
  bool isInsideChosen(LoopId l, const std::vector<LoopId>& chosen) const;
  std::string_view whyNot(RegId reg, const LoopWays& ways);
  bool meetsItself(RegId reg, BlockId to);
  const LoopWays& makeWays(LoopId l);

  const Function& f_;
  PassContext& context_;
  const Cfg& cfg_;
  const Loops& loops_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  const Occurrences& occurrences_;
  const RegisterScopes& scopes_;
  bool found_ = false;
  std::size_t lookups_ = 0;
  std::vector<std::string_view> why_;           // it may not be split, by RegId
  std::vector<std::optional<LoopWays>> ways_;   // by LoopId
  std::vector<std::vector<RegId>> candidates_;  // by LoopId
};

}  // namespace ptxopt
