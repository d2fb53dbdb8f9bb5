// Names of functions as their source has them.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace ptxopt {

// Demangles a name of the Itanium ABI; empty for any other.
std::string demangled(std::string_view name);
// The same, or the name itself where it is not mangled.
std::string readableName(std::string_view name);
// What people call a function: its name, the name that its source has, and that without parameters, arguments of a template and
// what is returned.
std::array<std::string, 3> calledNames(std::string_view name);
// The one of `names` that is called so: itself, otherwise the only one with such a name in its source. `called` where none is
// meant, or more than one.
std::string nameMeant(const std::string& called, std::span<const std::string> names);

}  // namespace ptxopt
