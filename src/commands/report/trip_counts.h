// The loops of a PTX text whose trip counts are constants, or which the module's profile has, by line, for
// src/measure/timing/known_rounds.h.
//
// Source: scalar evolution (analysis/values/scalar_evolution.h). A loop that tests at its header goes round once for each
// branch back, one that tests at its end once more.
// Declines: a line with instructions of several loops; loops of functions whose control flow has too many edges.
#pragma once

#include "dump/view.h"
#include "timing/known_rounds.h"

namespace ptxopt::report {

void addLoopsOf(dump::FunctionView& function, timing::PtxLoops& loops);
timing::PtxLoops loopsOf(const Module& module, std::string_view architecture);

}  // namespace ptxopt::report
