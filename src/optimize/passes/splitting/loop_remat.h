// Values that are computed anew after a loop, instead of being carried around it.
//
// What:       knob split-remat: in loops whose pressure is above the next step of the occupancy (split_goal.h), a
//             value with a cheap definition (cheap_definitions.h) whose operands hold the same values after the loop.
// Invariants: the only definition dominates what reads it, and those of its operands' values dominate that, so no
//             new iteration of a loop changes an operand while the register is live. What it reads is not split then,
//             nor the other way around: the order of the two after the loop would matter.
// Cost:       linear in points and in ways out.
// Declines:   those of SplitGoal; operand-of-recomputed is reported by those that ask isOperand.
#pragma once

#include <optional>
#include <vector>

#include "passes/splitting/loop_candidates.h"
#include "passes/splitting/split_goal.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {

class LoopRemat {
 public:
  struct Place {
    InstrId definition, place;
  };

  LoopRemat(const Function& f, PassContext& context, const Occurrences& occurrences, const RegisterScopes& scopes)
      : f_(f), context_(context), occurrences_(occurrences), scopes_(scopes) {}

  // Looks for a step to reach. Without one nothing is recomputed.
  void findGoal();
  // Notes the places if `reg` is to be computed anew after the loop; false if not.
  bool recompute(LoopId l, RegId reg, const LoopCandidates& candidates);
  // Whether `r` must not be split: a recomputed definition reads it.
  bool isOperand(RegId r) const { return isOperand_.size() > r.value && isOperand_[r.value]; }
  // `r` was split in another way: what reads it is not recomputed.
  void markSplit(RegId r) {
    if (isSplit_.size() > r.value) isSplit_[r.value] = true;
  }

  const std::vector<Place>& places() const { return places_; }
  void insert(Function& f) const;
  // Says what is expected of the registers; after all changes, where something was recomputed.
  void tellExpected();

 private:
  bool holdsAfter(InstrId definition, RegId reg, LoopId l, const LoopCandidates& candidates) const;

  const Function& f_;
  PassContext& context_;
  const Occurrences& occurrences_;
  const RegisterScopes& scopes_;
  std::optional<SplitGoal> goal_;
  std::vector<bool> isPressed_;            // by LoopId
  std::vector<bool> isOperand_, isSplit_;  // by RegId, with a goal
  std::vector<Place> places_;
};

}  // namespace ptxopt
