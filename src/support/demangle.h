// Names of functions as their source has them.
#pragma once

#include <string>
#include <string_view>

namespace ptxopt {

// Of a name mangled after the Itanium ABI; empty for one that is not.
std::string demangled(std::string_view name);

}  // namespace ptxopt
