// What changed from one ptxas to another, in words for a report of a bug.
#pragma once

#include <string>
#include <vector>

#include "diff/diff.h"

namespace ptxopt::tool {

struct Toolchains {
  std::string before, after;           // programs
  std::vector<std::string> arguments;  // of both
  std::string input;                   // as it was given
};

// Both versions, how many kernels got worse and better, the figures of the worst, and lines that reproduce the first. Lines,
// each with a line feed.
std::string toolchainSummary(const diff::Result& result, const Toolchains& toolchains, bool mangled);

}  // namespace ptxopt::tool
