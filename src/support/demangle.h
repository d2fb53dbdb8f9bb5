// Names of functions as their source has them.
#pragma once

#include <string>
#include <string_view>

namespace ptxopt {

// Of a name mangled after the Itanium ABI; empty for one that is not.
std::string demangled(std::string_view name);
// The same, or the name itself where it is not mangled.
std::string readableName(std::string_view name);

}  // namespace ptxopt
