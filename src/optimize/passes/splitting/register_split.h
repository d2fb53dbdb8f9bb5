// How a register would be split around the points of high pressure.
//
// A carrier takes the value over after each definition. The register is written again before the first use of each
// block, and before a use that has points of high pressure between it and the mention before. In between the
// register is dead. What the carrier is, split_mode.h says.
// Algorithm:  one walk over the mentions of the register, block by block.
// Cost:       linear in mentions, and logarithmic in points for each.
// Declines:   those of whyUnsplittable, call-sequence (a parameter or result of a call), lent (what costs nothing
//             itself lives on in it), carried-already (it is only copied).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "passes/splitting/high_points.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {

class SplitMode;

// What splitting reads of the kernel: made once, before anything changes.
struct SplitSource {
  SplitSource(const Function& f, PassContext& context);

  std::size_t pointOf(InstrId id) const { return points.firstFrom(slots[id].reg()); }
  // ... from which a segment of a live range begins, and at which it ends.
  std::size_t firstOf(const Segment& s) const { return points.firstFrom(s.start); }
  std::size_t endOf(const Segment& s) const { return points.firstFrom(s.end); }

  const Function& f;
  const Module& module;
  const Cfg& cfg;
  const SlotIndexes& slots;
  const LiveIntervals& intervals;
  const RegisterPressure& pressure;
  const PressurePoints& points;
  const RegisterScopes scopes;
  const Occurrences occurrences;
  std::vector<uint8_t> depth;  // of loops, by BlockId, HighPoints::kDepths at most
};

struct RegisterSplit {
  RegId reg;
  SplitMode* mode = nullptr;  // of the plan
  uint32_t carrier = 0;       // a register or a slot, as the mode has it
  uint64_t relieved = 0;      // high points times units
  uint32_t units = 0;
  uint8_t deepest = 0;                     // loop that mentions the register, HighPoints::kDepths at most
  bool definitionDies = false;             // the first mention after each definition writes the register again
  std::vector<InstrId> defs;               // after these it is taken over
  std::vector<InstrId> uses;               // before these it is written again
  std::vector<AllocatedValue::Span> held;  // points where it stays
};

class SplitFinder {
 public:
  SplitFinder(const SplitSource& source, const AllocatedValues& allocated);

  // Nothing when it relieves no point, or too few for its accesses, or the register may not be split.
  std::optional<RegisterSplit> find(RegId reg, const HighPoints& high, MissedRemarks& missed) const;

 private:
  static constexpr uint32_t kShort = 8;  // high points between two mentions, or for each access, that do not pay

  void findCallSequences();
  void findLenders(const AllocatedValues& allocated);
  RegisterSplit walk(RegId reg, const HighPoints& high) const;

  const SplitSource& source_;
  std::vector<std::string_view> why_;  // it may not be split, by RegId
};

}  // namespace ptxopt
