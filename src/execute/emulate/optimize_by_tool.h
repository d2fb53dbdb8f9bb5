// A PTX text optimized by a ptxopt of its own process, with options as on its command line.
#pragma once

#include <string>

namespace ptxopt::emulate {

// Without the guard, unless the options say otherwise. Empty where it could not be optimized: `error` says why.
std::string optimizedByTool(const std::string& tool, const std::string& options, const std::string& text,
                            std::string& error);

}  // namespace ptxopt::emulate
