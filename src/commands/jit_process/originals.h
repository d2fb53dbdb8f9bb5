// Both versions of kernels in one text, so that a program can be given either: for `ptxopt jit --compare`.
//
// Kernels that changed stand in the text a second time, as they were, under another name (jit::kOriginalSuffix). In one module they have
// the same variables, so that a launch of either finds what launches of the other left there. Where a function changed, all functions
// stand there twice, and the originals of kernels call the originals of functions.
//
// Which kernels cannot be compared, and why, is found here, too: what a launch does besides writing to memory, twice is not once.
// Cost: parses the text, and the result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptxopt/ptxopt.h"

namespace ptxopt::jit_process {

struct WithOriginals {
  std::string text;  // empty: the originals cannot be added
  // For who runs it, as protocol.h has it.
  std::string description;
};
// `before`: as the program gave it, where `functions` have their places.
WithOriginals withOriginals(std::string_view before, std::string_view after,
                            const std::vector<FunctionOutcome>& functions);

}  // namespace ptxopt::jit_process
