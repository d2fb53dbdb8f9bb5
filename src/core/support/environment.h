// Variables of the environment, and lists in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ptxopt {

// Empty where it is not set.
std::string environmentValue(const char* variable);

// The parts of a list, empty ones too; what ends with a separator has no part after it.
std::vector<std::string> partsOf(std::string_view list, char separator);

// The files of that name in the folders of PATH; an empty one is the current folder.
std::vector<std::string> filesInPath(std::string_view name);

}  // namespace ptxopt
