// The manual as roff pages (man macros), ptxopt.1 and one page a subcommand, from what describe.h says of each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tool/manual/describe.h"

namespace ptxopt::tool {

struct ManualPage {
  std::string fileName;  // "ptxopt-run.1"
  std::string text;
};

std::vector<ManualPage> manualPages(const std::vector<CommandDescription>& commands);
// Writes them all into a folder, which is made if need be. Returns the exit code.
int writeManual(const std::string& folder);

// Text that roff shows as it is (for tests).
std::string roff(std::string_view text);

}  // namespace ptxopt::tool
