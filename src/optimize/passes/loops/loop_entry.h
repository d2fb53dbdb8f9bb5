// Code that is executed whenever a loop is entered, and only then: where it can be put before the loop, and whether it pays.
#pragma once

#include <string_view>

#include "analysis/dataflow/loops.h"
#include "ir/module.h"

namespace ptxopt {

// Whether control falls into the loop from the block before it alone, and the header begins with a label: what is put before
// that label is executed whenever the loop is entered.
bool isFallenInto(const Module& module, const Function& f, const Cfg& cfg, const Loops& loops, LoopId l);

// How often the user, or a profile, says that the loop iterates whenever control enters it; 0: nothing is said. For a
// loop that a pass copied it says what it says of the original.
uint32_t saidIterations(const Module& module, const Function& f, const Cfg& cfg, BlockId header);

// Whether it is said to iterate less than so often. What stands before it pays so much less.
bool isSaidToIterateLess(const Module& module, const Function& f, const Cfg& cfg, BlockId header, uint32_t than);

// Why code before the loop does not pay that runs where many iterations are hinted at: "few-iterations", a hint says
// so; "no-hint", hints are of other loops alone, and this one is as in a kernel without any. Empty: it may, or there
// are no hints and the pass was asked for.
std::string_view whyIteratesSeldom(const Module& module, const Function& f, const Cfg& cfg, BlockId header);

}  // namespace ptxopt
