// Which shuffles send a value that all lanes have anyway, if sections of lanes lose their branches.
//
// Sections:   a section (lane_sections.h) loses its branch only if it helps: a shuffle of what it computes must go,
//             and its loads must have one address for all lanes. What all lanes have depends on which branches go,
//             so the set is found by elimination: all sections at first; launch_values.h is asked what holds
//             without their branches; sections for which that fails are taken out, until nothing changes.
// With several: after a section whose branch goes, every thread has what it writes. After one with a vote only the
//             warps have it that ran it; the others hold what nobody wrote. So the addresses of a section must be
//             one value when only those branches are gone whose sections were run by the threads that load: sections
//             whose branch goes, and, if this one votes, others that vote on the same value of the same predicate.
//             Values that are merely shuffled or computed may come from any section: where it was skipped they
//             were undefined in all lanes of the warp before, and are so now.
// Shuffles:   an unguarded shuffle gives a lane what some lane of its warp holds: its own value where the other lane
//             is outside its segment (`c`), and nothing defined where the other lane has exited, does not take part
//             or is not in the mask. A lane that is not in the mask itself may not run it. If all lanes hold one
//             value, that value is right in each case, and the lane's own register has it. A shuffle with a
//             predicate (`d|p`) stays: the predicate says whether the other lane is in the segment. Shuffles order
//             no memory, and lanes need not run together after one.
// Cost:       launch_values.h for each round, at most kMostRounds; and for each section with a vote.
// Declines:   address-varies.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/values/launch_values.h"
#include "passes/memory/lane_sections.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {

class BroadcastValues {
 public:
  // Keeps those of `candidates` whose branches go, or become votes. Counts why others do not.
  BroadcastValues(const Function& f, PassContext& context, const LaunchMemory& memory,
                  std::vector<LaneSection> candidates, MissedRemarks& missed);

  const std::vector<LaneSection>& sections() const { return sections_; }
  // Whether the shuffle's result, all that it writes, is one value for all lanes.
  bool isOneForAll(InstrId shuffle) const;
  // The 64-bit register that `pack` makes again of its halves: `mov.b64 r, {low, high}` of what
  // `mov.b64 {low, high}, s` took apart in the block, s not being written between. If r is one value for all lanes,
  // so are the halves, and their shuffles go. Not valid: it is none.
  RegId wholeOf(InstrId pack) const;

 private:
  static constexpr unsigned kMostRounds = 8;

  const OpcodeForm& form(InstrId id) const { return module_.form(f_[id]); }
  void eliminate(MissedRemarks& missed);
  void evaluate();
  bool loadsVary(const LaneSection& s, std::span<const LaneSection> all) const;
  bool loadsVary(const LaneSection& s, const LaunchValues& values) const;
  bool isSent(const LaneSection& s) const;
  bool isWrittenBetween(RegId r, InstrId from, InstrId to) const;

  const Function& f_;
  const Module& module_;
  const Cfg& cfg_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  const LaunchMemory& memory_;
  std::vector<LaneSection> sections_;
  std::vector<LaunchValues::Edge> edges_;  // of their branches; `values_` refers to it
  std::optional<LaunchValues> values_;     // without these edges
};

}  // namespace ptxopt
