// Showing a difference: inputs smaller than the one that was found, and the text that describes one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "verify/comparison.h"
#include "verify/difference.h"
#include "verify/input.h"
#include "verify/verify.h"

namespace ptxopt::verify {

// Smaller inputs: fewer blocks, fewer threads, smaller scalars, plainer contents. What the options fix stays.
std::vector<Trial> smallerTrials(const Trial& t, const KernelUse& use, const ShapeLimits& limits,
                                 const VerifyOptions& options);

// Where the two differ and on which input; several lines. `writers` are those of the byte in question in the first
// and the second file.
std::string explain(const Trial& trial, const Difference& d, const KernelUse& use,
                    const std::optional<Comparison::Writers>& writers);

}  // namespace ptxopt::verify
