// Whether a launch keeps to what the user says of the kernel's launches (ir/kernel_facts.h).
#pragma once

#include <string>

#include "exec/machine.h"
#include "exec/program.h"

namespace ptxopt::exec {

// The first fact that does not hold, in words; empty: all do.
std::string brokenFact(const Program& program, const LaunchConfig& config);

}  // namespace ptxopt::exec
