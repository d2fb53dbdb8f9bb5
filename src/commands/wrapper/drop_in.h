// The drop-in ptxas: its arguments, the real ptxas that it calls, and optimized PTX in between.
//
// Each PTX input is optimized for the architecture asked for and put into a temporary file of the same name; the
// real ptxas is called with the same arguments but for that name. What it prints is handed on, its exit code is
// ours, and so is the signal that ends it. Where nothing changed we become ptxas. We never fail where ptxas would
// not: an input that we cannot optimize goes as it is, with one warning if ptxas takes it; if ptxas refuses the
// optimized text it gets the original, and there is a warning if it takes that. A ptxas that hangs hangs: the process
// that waits for it decides how long, and signals are sent on.
#pragma once

#include <string>
#include <vector>

#include "ptxas/find.h"
#include "wrapper/optimize_input.h"

namespace ptxopt::wrapper {

// `candidates`: not empty; the one that takes the inputs is called. Does not return unless ptxas cannot be started: then
// which one, and the reason.
std::string runDropIn(const ptxas::PtxasCandidates& candidates, const std::vector<std::string>& arguments,
                      const WrapperOptions& options);

}  // namespace ptxopt::wrapper
