// Copies of kernels for their facts, beside the general ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"

namespace ptxopt::facts {

struct Specialized {
  std::string text;
  std::vector<std::string> kernels;  // that have a copy, by their own names
};

// The module's text with a copy, called NAME + `suffix`, after each kernel that facts say something about (hasFacts).
// The copy has the facts as a comment (facts.h), the general kernel none any more; nothing else changes. Linear. Throws
// std::invalid_argument where a name is taken, the suffix makes no name, or a kernel has variables that outlast a
// launch.
Specialized withSpecialized(const Module& module, std::string_view suffix);

}  // namespace ptxopt::facts
