// Which registers of a kernel are split, and in which mode.
//
// Algorithm:  for each allocated register the split that relieves the most (register_split.h). Most units first; a
//             register that leaves no point that is still too high is not split; done when no such point remains.
// Steps:      the nearest step of the occupancy; with slots the step that can be reached with the most resident
//             blocks, the slots counted, and none if there would be no more blocks than now.
// Cost:       for each step tried linear in mentions, and logarithmic in points for each stretch.
// Declines:   those of the finder and of the modes; operand-of-recomputed; step-not-reached (no more blocks with the
//             slots that fit).
#pragma once

#include <memory>
#include <vector>

#include "passes/splitting/shared_mode.h"
#include "passes/util/missed_remarks.h"
#include "support/range_max.h"

namespace ptxopt {

struct SplitPlan {
  std::vector<RegisterSplit> picks;
  std::vector<std::unique_ptr<SplitMode>> modes;  // in the order in which they are asked
  const SharedMode* shared = nullptr;             // of `modes`, if it is one of them
  uint32_t registers = 0;                         // that the kernel is expected to need
  uint32_t blocks = 0;
  MissedRemarks missed;

  uint64_t sharedBytes() const { return shared == nullptr ? 0 : shared->slots().bytes(); }
};

class SplitPlanner {
 public:
  struct Modes {
    bool remat = false;   // before the others
    bool shared = false;  // instead of copies
  };
  SplitPlanner(const SplitSource& source, const SplitGoal& goal, Modes modes)
      : source_(source), goal_(goal), modes_(modes), finder_(source, goal.allocated) {}

  // For the best step.
  SplitPlan best() const;
  // Whether a plan with slots lets more blocks in than there are now.
  bool allowsMoreBlocks(const SplitPlan& plan) const;

 private:
  SplitPlan make(uint32_t step) const;
  void addModes(SplitPlan& plan, uint32_t mostUnits) const;
  std::vector<RegisterSplit> candidates(SplitPlan& plan, const HighPoints& high) const;
  bool relieve(const RegisterSplit& s, uint32_t most, RangeMax& units) const;
  void expect(SplitPlan& plan, uint32_t registers) const;

  const SplitSource& source_;
  const SplitGoal& goal_;
  Modes modes_;
  SplitFinder finder_;
};

}  // namespace ptxopt
