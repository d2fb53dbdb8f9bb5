// Limits that figures must keep, whatever they were before: --limit 'spills<=0' --limit 'attention*:registers<=128'.
//
// [KERNEL:]FIGURE<=N, or >=N. KERNEL is a pattern with * and ?, for the name as the PTX has it, the demangled one, or that
// without parameters; without one a limit is for all kernels. Figures have the names of --fail-on, or of JSON; `shared` is static
// shared memory in bytes. A limit that no kernel has, or whose figure is not known of one that has it, is a problem: nothing would
// have been checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diff/fail_on.h"
#include "ptxas/compare.h"

namespace ptxopt::diff {

struct Bound {
  std::string kernel;  // the pattern; empty: all
  std::string figure;  // as it was written
  bool isLeast = false;
  uint64_t value = 0;

  std::string text() const;  // as it is written: "attention*:registers<=128"
  bool isFor(const ptxas::FunctionMeasures& f) const;
  // None where it is not known.
  std::optional<uint64_t> figureOf(const ptxas::FunctionMeasures& f) const;
  bool isKept(uint64_t by) const { return isLeast ? by >= value : by <= value; }
};

struct Breach {
  Bound bound;
  uint64_t value = 0;
};

// None, with the reason in `error`, for what makes no sense.
std::optional<Bound> parseBound(std::string_view text, std::string& error);
// Reads a file as schemas/limits.schema.json has it, after those that are there.
bool readBounds(std::string_view json, std::vector<Bound>& bounds, std::string& error);

// Whether something is asked of a clock: FunctionMeasures::compileTime.
bool asksForTime(const FailOn& failOn, const std::vector<Bound>& bounds);

// "spills, warps, ...": what may be limited.
std::string figureNames();

}  // namespace ptxopt::diff
