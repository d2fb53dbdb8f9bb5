// Files that a program names to the driver.
#pragma once

#include <optional>
#include <string>

namespace ptxopt::jit {

// None of what can be read once only: a pipe is for the driver.
std::optional<std::string> contentsOf(const char* path);

}  // namespace ptxopt::jit
