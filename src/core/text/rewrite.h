// Other texts for the same module: without debug information, or with another header. All else stays byte for byte.
// Cost: linear.
#pragma once

#include <string>
#include <string_view>

#include "ir/module.h"

namespace ptxopt::text {

// Without .loc, .file, sections .debug* and .nv_debug*, embedded sources, and `debug` in .target; a line that has nothing else
// goes as a whole. Names in it stay names: labels that only debug information mentions are left.
std::string withoutDebug(const Module& module);

// The same of a text; as it is where it cannot be parsed, or has none.
std::string withoutDebug(std::string_view source, const std::string& fileName, bool optix);

// With this number after .version and this first word after .target; an empty one stays.
std::string withHeader(std::string_view source, std::string_view version, std::string_view target);

}  // namespace ptxopt::text
