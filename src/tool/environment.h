// The environment variables that the program reads, as environment.def lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ptxopt::tool {

struct Variable {
  std::string_view name, summary;
};

std::span<const Variable> environmentTable();
// A paragraph with the names of those that are this program's business alone, for --help.
std::string environmentHelp();

}  // namespace ptxopt::tool
