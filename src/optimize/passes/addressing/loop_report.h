// What lsr says of each loop: which forms its groups of addresses could take and took, and why nothing was
// done. The reports go to PassReport::loops, if anybody reads them, and the reasons, counted, to its declines.
#pragma once

#include <map>

#include "passes/addressing/select.h"

namespace ptxopt {

// A group that is given no other form.
struct SkippedGroup {
  const UseGroup* group = nullptr;
  std::string_view why;
};

class LoopReports {
 public:
  LoopReports(const Function& f, PassContext& context) : f_(f), context_(context) {}

  // A loop that is left as it is.
  void decline(LoopId l, std::string_view reason);
  // One whose forms were chosen. `stepsChange`: so do steps of its induction variables.
  void tell(LoopId l, std::span<const GroupForms> groups, std::span<const SkippedGroup> skipped, bool stepsChange,
            const SelectionResult& result);
  // When all loops are reported.
  void tellDeclines();

 private:
  static std::string_view whyUnchanged(std::span<const GroupForms> groups, std::span<const SkippedGroup> skipped,
                                       bool stepsChange);
  LoopReport& begin(LoopId l);
  LoopReport::Group& describe(LoopReport& report, const UseGroup& group) const;
  std::string text(ExprId e) const;

  const Function& f_;
  PassContext& context_;
  std::map<std::string_view, uint64_t> loops_, groups_;  // that were left, by reason
};

}  // namespace ptxopt
