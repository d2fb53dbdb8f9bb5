// What became of the modules of a program that ptxopt jit ran, as its library wrote it: a line of JSON each.
#pragma once

#include <cstdint>
#include <string>

namespace ptxopt::tool {

// A table of what stands in the file from there on. Where there is nothing, a line that says so.
std::string jitTable(const std::string& log, std::uintmax_t from);
// Why lines cannot be added to a file; empty where they can.
std::string whyNotAppendable(const std::string& path);

}  // namespace ptxopt::tool
