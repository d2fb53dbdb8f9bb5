// One PTX text through the library, with --verify: what `ptxopt IN -o OUT` and --in-place do with each file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/log.h"
#include "tool/manual/lists.h"
#include "tool/options/command_line.h"

namespace ptxopt::tool {

struct Optimized {
  Status status = Status::Ok;        // of optimizing and of --verify
  Result result;                     // its output is what to write when status is Ok
  std::vector<log::Lines> messages;  // warnings, remarks, --print-after, -v, in their order
  std::string error;                 // a line or more, when status is not Ok
  TimesOfAll times;                  // of the guard and of ptxas, if Options::times
};

// `options` are those of the line, but for the file's name and the threads. Reads and prints nothing.
Optimized optimizeText(std::string_view text, const CommandLine& line, const Options& options);

}  // namespace ptxopt::tool
