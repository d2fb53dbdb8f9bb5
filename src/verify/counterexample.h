// Showing a difference: inputs smaller than the one that was found, and the text that describes one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "verify/input.h"
#include "verify/run.h"
#include "verify/verify.h"

namespace ptxopt::verify {

// A byte that differs.
struct Difference {
  std::string where;  // "x+12" or "the variable 'y' + 8", or what the fault or output was
  std::size_t field = SIZE_MAX;
  int64_t offset = 0;  // from the pointer
  unsigned bytes = 0;
  std::string values;
  bool fails = false;  // the second does not run to its end
  bool reach = false;  // memory that only the second one touches
  bool race = false;   // only --check-races sees it
  bool slow = false;   // the second does not end
};

// Smaller inputs: fewer blocks, fewer threads, smaller scalars, plainer contents. What the options fix stays.
std::vector<Trial> smallerTrials(const Trial& t, const KernelUse& use, const ShapeLimits& limits,
                                 const VerifyOptions& options);

// Where the two differ and on which input; several lines. `writers` are those of the byte in question in the first
// and the second file, or empty.
std::string explain(const Trial& trial, const Difference& d, const KernelUse& use,
                    const std::pair<std::string, std::string>& writers);

}  // namespace ptxopt::verify
