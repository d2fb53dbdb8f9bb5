// Registers that may hold a value that launch_values.h finds to be one for all threads: a quick guess, without live ranges.
//
// What:       within a block a register may hold such a value after an instruction that may write one; where a block begins,
//             if each instruction of the function that writes the register may. An instruction may write one if
//             launch_values.h follows it, and all its sources may hold one. What is loaded from global memory is taken to
//             be as launched.
// Misses:     registers that hold such a value in some blocks and another one elsewhere. So this serves to leave out work, not
//             to prove anything.
// Algorithm:  all registers are taken to hold one but those that are never written. Sweeps in the order of the text take away,
//             until nothing more goes; at most kMostSweeps. A value that goes in a circle, as gcc's do that sends halves and
//             packs them in the register that they came from, stays one.
// Cost:       linear in operands for each sweep.
#pragma once

#include "analysis/dataflow/cfg.h"

namespace ptxopt {

// Whether an unguarded instruction that is of interest may write such a value.
using InstructionFilter = bool (*)(const OpcodeForm& form, std::span<const Operand> operands);
bool mayWriteLaunchValue(const Module& module, const Function& function, const Cfg& cfg,
                         InstructionFilter isOfInterest);

}  // namespace ptxopt
