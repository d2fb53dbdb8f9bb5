// Result::outcomes: what became of each function, and which others its code may depend on.
#pragma once

#include <span>
#include <vector>

#include "analysis/dataflow/loops.h"
#include "api/report.h"
#include "ir/module.h"
#include "passes/manager/pipeline.h"
#include "ptxopt/ptxopt.h"
#include "text/print.h"

namespace ptxopt {

// For the module as it is given: a function that a pass put into another is one that it depends on.
// Linear in the operands of the module, besides the mentions that it finds.
std::vector<FunctionOutcome> outcomesOf(const Module& module);
// For the module as it is now, and for the text that was printed from it. None is changed.
std::vector<FunctionOutcome> outcomesOf(const Module& module, const std::vector<text::FunctionPlace>& places);

// The labels of the innermost loops, in the order of the text; of one without a label nothing.
std::vector<std::string> innermostLoopsOf(const Module& module, const Function& f, const Cfg& cfg,
                                          const Loops& loops);

// Says which functions passes have changed, and which passes, in outcomes of the module, or in none. `reports` is by
// Function::index.
void noteChanges(const Module& module, std::span<const Step> steps, const std::vector<FunctionReport>& reports,
                 std::vector<FunctionOutcome>& outcomes);

}  // namespace ptxopt
