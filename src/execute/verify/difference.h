// What two runs on the same input left that is not the same: memory that pointers lead to, bit for bit, variables of the
// module, and what was printed. The first difference, in that order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "verify/run.h"

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

// A run, and the machine that still holds what it left.
struct Side {
  exec::Machine& machine;
  const Run& run;
};

// `anyNan`: NaNs of whatever bits are equal, where memory holds floating-point numbers.
std::optional<Difference> findDifference(const Side& first, const Side& second, const KernelUse& use, bool anyNan);

}  // namespace ptxopt::verify
