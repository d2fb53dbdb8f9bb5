// What counts as a regression: --fail-on spills,warps,sass:2%,regs:1,missing.
//
// A measure with nothing after it may not get worse at all; with a number it may by so much, with a percentage by
// that part of what it was. What is not named never fails. For `notes`, the number of new ones counts. `code` is
// machine code that is not the same. `compile-time` is a clock's: 50% are tolerated where nothing is said, and less
// than 100 ms in any case. `missing`: a kernel that is gone. `none`: nothing fails.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptxas/compare.h"

namespace ptxopt::diff {

struct Limit {
  ptxas::Measure measure = ptxas::Measure::Spills;
  double tolerance = 0;
  bool isPercent = false;

  // Whether `after` is worse than `before` by more than is tolerated.
  bool isExceeded(uint64_t before, uint64_t after) const;
  // As it is written: "sass:2%".
  std::string text() const;
};

struct FailOn {
  std::vector<Limit> limits;  // a measure once at most, in order of Measure
  bool missing = false;
  bool isUsual = false;  // not asked for: what is not known is passed over then

  std::string text() const;
  const Limit* find(ptxas::Measure m) const;
};

// Spills and warps: what costs time on every kernel. Counts of instructions and registers go up and down with code
// that is no slower.
FailOn usualFailOn();
// None, with the reason in `error`, for what makes no sense.
std::optional<FailOn> parseFailOn(std::string_view text, std::string& error);

}  // namespace ptxopt::diff
