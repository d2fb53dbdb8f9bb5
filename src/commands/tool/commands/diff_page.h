// A comparison as one HTML page: a table to sort and to filter, and for each kernel what decided, its machine code on both sides, and
// its figures in older versions. It loads nothing from the network (report/page.h).
#pragma once

#include <string>
#include <vector>

#include "diff/diff.h"
#include "diff/measurements.h"

namespace ptxopt::tool {

// `code`: by row, of showCode(); empty: of none. `history`: older versions, the oldest first, by their names.
std::string diffPage(const diff::Result& result, const std::vector<std::string>& code,
                     const std::vector<diff::Side>& history);

}  // namespace ptxopt::tool
