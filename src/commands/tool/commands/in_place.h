// ptxopt --in-place FILE.ptx... DIR...: each file is replaced by its optimized text, whole or not at all.
#pragma once

#include <string>
#include <vector>

#include "tool/options/command_line.h"

namespace ptxopt::tool {

// The files that these names stand for: files as they are, folders as all *.ptx below them in the order of their
// names. A file that two names lead to is taken once. A name that is nothing, or a folder without a *.ptx, is an
// error: a line in `errors`.
std::vector<std::string> inputFiles(const std::vector<std::string>& names, std::vector<std::string>& errors);

// Optimizes all of them, -j at a time. A file that fails stays as it is and the others go on; what is said, in the
// order of the files, and what is written do not depend on -j. Then a table of what changed (with -v, of all) to
// standard error, and with --report one JSON for all. Returns the worst status of all files.
int optimizeInPlace(const CommandLine& line);

}  // namespace ptxopt::tool
