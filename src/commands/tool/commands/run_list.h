// What `ptxopt run --list-opcodes` prints.
#pragma once

#include <string>

namespace ptxopt::tool {

// All rows of opcodes.def.
std::string listExecutable();
// A table in Markdown of those that the interpreter does not have, or not in full.
std::string listNotExecutable();

}  // namespace ptxopt::tool
