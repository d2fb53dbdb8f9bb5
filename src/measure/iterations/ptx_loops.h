// The loops of a PTX text whose trip counts are constants, or which the module's profile has, and the bodies of its kernels, by line, for
// src/measure/timing (known_iterations.h, launch_versions.h).
//
// Source: scalar evolution (analysis/values/scalar_evolution.h). A loop that tests at its header iterates once for each
// branch back, one that tests at its end once more. A profile has loops by the labels of the text that it was made with; of a copy its
// label says which it is a copy of (text/instruction_printer.h). Several copies in one body are a loop that was unrolled and what is left,
// or versions of it: the longer ones have as many copies as they compute more. Where the profile saw no arrays overlap, the version
// with fewest accesses runs, and the others never.
// Declines: a line with instructions of several loops; loops of functions whose control flow has too many edges. A loop that is tied to
// none of the profile has no trip count.
#pragma once

#include <string_view>

#include "ir/module.h"
#include "timing/known_iterations.h"

namespace ptxopt::iterations {

timing::PtxLoops loopsOf(const Module& module);

}  // namespace ptxopt::iterations
