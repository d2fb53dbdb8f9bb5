// Constant trip counts of a version, hidden from ptxas.
//
// What:       where a loop of a version always makes more than kMostUnrolled iterations, or iterations of more than kMostCopied
//             instructions together, the bound of its test gets a zero added to it that ptxas cannot know: a number of the test
//             at entry, read again, less its value.
// Why:        ptxas unrolls such loops fully, and the kernel has the registers of the body that needs most: measured on two
//             loops of 27 iterations with a load, 80 registers instead of 32, and 162 with 64 iterations (sm_80, ptxas
//             13.0). Loops of unknown trip count it unrolls by 4, as in the kernel.
// When:       last, so that passes know the counts.
// Cost:       scalar evolution of the body.
#pragma once

#include "ir/kernel_version.h"
#include "passes/manager/knobs.h"

namespace ptxopt {

constexpr uint64_t kMostUnrolled = 4, kMostCopied = 100;

// How many loops.
uint64_t hideTripCounts(const Module& module, KernelVersion& version, const Knobs& knobs);

}  // namespace ptxopt
