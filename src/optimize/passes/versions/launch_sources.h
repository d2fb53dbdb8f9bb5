// The numbers of a launch that a kernel reads, and what it would save if they were constants.
//
// What:       sizes of the block, and parts of parameters that loads give as a whole. A value is known if it is
//             computed from such numbers and constants alone; what a number is worth are the instructions that have a
//             known operand made of it.
// Estimate:   machine instructions of a thread: a division 20, a conversion between integers and floating point 4, a
//             test or an address in a loop 1 each time that the block is executed (Loops::assumedCount), other
//             arithmetic 1. A test outside of loops saves nothing: ptxas reads the constant bank as it reads an
//             immediate. Floating-point numbers are worth something where they are compared, and where they are 0 or 1.
// Misses:     what becomes constant only because a register has several definitions and one is never reached.
// Cost:       the control-flow graph, loops, and two sweeps over the instructions; for kernels that a profile has.
#pragma once

#include <vector>

#include "analysis/manager/analyses.h"
#include "ir/launch_profile.h"
#include "ir/parameter_loads.h"

namespace ptxopt {

struct LaunchSource {
  bool isBlock = false;
  std::size_t component = 0;  // of the block
  LoadedPart part;            // of a parameter
  uint64_t worth = 0;         // as any number
  uint64_t worthIfUnit = 0;   // beyond that, as the floating-point numbers 0 and 1
};

// At most 63, in the order in which they are read first.
std::vector<LaunchSource> launchSources(const Module& module, const Function& f, Analyses& analyses);

}  // namespace ptxopt
