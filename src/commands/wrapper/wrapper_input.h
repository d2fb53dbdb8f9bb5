// An input of the drop-in ptxas on its way.
#pragma once

#include <string>
#include <vector>

#include "wrapper/optimize_input.h"
#include "wrapper/ptxas_command.h"

namespace ptxopt::wrapper {

struct WrapperInput {
  PtxasCommand::Input place;
  std::string path;    // as given, "-" for standard input; empty: it is a string
  std::string source;  // what nvcc made it of, where it has a temporary name
  std::string copy;    // a file of the same text, where the input can be read once only
  std::string text;    // as given
  OptimizedInput result;
  std::string resultFile;  // where the optimized text is for ptxas

  bool isString() const { return path.empty(); }
  bool isStandardInput() const { return path == "-"; }
  // For messages.
  std::string name() const {
    return isString() ? "<string>" : isStandardInput() ? "<stdin>" : source.empty() ? path : "PTX of " + source;
  }
};

// Writes the report and the optimized PTX of each input where `options` want them, but never over a file of the call. What
// could not be written.
std::vector<std::string> writeSideFiles(const std::vector<WrapperInput>& inputs, const PtxasCommand& command,
                                        const WrapperOptions& options);

}  // namespace ptxopt::wrapper
