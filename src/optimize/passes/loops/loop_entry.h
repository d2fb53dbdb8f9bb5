// Code that is executed whenever a loop is entered, and only then: where it can be put before the loop, and whether it pays.
#pragma once

#include "analysis/dataflow/loops.h"
#include "ir/module.h"

namespace ptxopt {

// Whether control falls into the loop from the block before it alone, and the header begins with a label: what is put before
// that label is executed whenever the loop is entered.
bool isFallenInto(const Module& module, const Function& f, const Cfg& cfg, const Loops& loops, LoopId l);

// How often the user, or a profile, says that the loop iterates whenever control enters it; 0: nothing is said.
uint32_t saidRounds(const Module& module, const Function& f, const Cfg& cfg, BlockId header);

// Whether it is said to go round less than so often. What stands before it pays so much less.
bool isSaidToGoRoundLess(const Module& module, const Function& f, const Cfg& cfg, BlockId header, uint32_t than);

// Whether the user says of the loop, or of all in the kernel, that it goes round less often than pays for code before it, or
// says it of other loops alone.
bool goesRoundSeldom(const Module& module, const Function& f, const Cfg& cfg, BlockId header);

}  // namespace ptxopt
