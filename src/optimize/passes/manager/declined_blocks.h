// Where the user asks a pass to change nothing: `--decline=PASS@LABEL`.
//
// A label names the block that it begins; where that is the header of a loop, all blocks of the loop, with the loops in it.
// Labels are those of the input. What a pass copied is named by the label that it was copied from, and what was inlined by that of
// the function that it comes from. Passes ask PassContext::isDeclined() of the blocks and loops that they look at; the `declines` column
// of passes.def says which passes do. Cost: linear in labels, for functions and passes with such a label.
#pragma once

#include <span>

#include "passes/manager/pass.h"

namespace ptxopt {

struct DeclinedLabel {
  NameId name;
  uint32_t function = UINT32_MAX;  // whose text has the label, by Function::index; UINT32_MAX: any
};

// Whether the label, of `f`, is that one or a copy of it.
bool isOf(const Function& f, const Label& label, const DeclinedLabel& declined);

// Sets context.declinedBlocks for a run of the pass, and reports what the pass will not change, and which labels are no longer there.
void declineBlocks(const Function& f, const PassInfo& pass, std::span<const DeclinedLabel> labels,
                   PassContext& context);

}  // namespace ptxopt
