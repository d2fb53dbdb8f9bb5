// Where instructions may be put: an instruction is inserted before a place; no id is the end of the function.
#pragma once

#include "analysis/dataflow/cfg.h"

namespace ptxopt {

// Before an instruction, and before the pragma that describes it.
InstrId placeBefore(const Module& module, const Function& f, InstrId id);
// At the end of a block, before its branch.
InstrId placeAtEnd(const Module& module, const Function& f, const Block& block);
// At the start of a block, after its label and the pragma of a loop; of the function, after the declarations there.
InstrId placeAtStart(const Module& module, const Function& f, const Block& block);
// Where only what falls through from `from` to `to` passes, in a block of its own. False when there is none:
// `from` does not fall through to `to`, or jumps there too.
bool placeBetween(const Module& module, const Function& f, const Cfg& cfg, BlockId from, BlockId to,
                  InstrId& place);

}  // namespace ptxopt
