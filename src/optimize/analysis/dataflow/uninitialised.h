// Registers that may be read before they are written.
//
// A register counts when on some path from where the function begins an instruction reads it and none before writes
// it. Conditions are followed as far as code generators rely on them. For each register and point one of three
// things is known: it is written; it may be unwritten; it may be unwritten only where a predicate has one value. A
// write under a guard, and an edge of a branch with one, lead to the third and from there to the first, as long as
// nobody writes the predicate in between. So no warning comes for a value that is written under a guard, or after
// a branch, and read under the same condition only, nor for one that is written under both values of a predicate.
// Reads are uses; an accumulator that is also written is none, since its instruction may be made not to read it,
// and one lane written counts for the whole vector. Return registers are not looked at: a caller need not read
// them. The carry flag is for straight-line code: no call keeps it, and no loop takes it in or from one iteration to
// the next, so there it counts as unwritten.
// Algorithm: the candidates are live at the entry (strength `Plain`), and the flag; one forward problem over these,
// with a state a block and candidate; then one walk that reports. Cost: instructions, and blocks times candidates times
// loop depth. Declines (`complete` is false) when the states would take more than `mostBytes`.
#pragma once

#include <vector>

#include "analysis/dataflow/liveness.h"

namespace ptxopt {

struct UninitialisedRead {
  RegId reg;
  InstrId instruction;  // the first in the text that may read it so
};

struct UninitialisedReads {
  bool complete = true;
  std::vector<UninitialisedRead> reads;  // one for each register, in the order of the text
};

// By block: whether it begins a loop, which control enters and repeats there. Irreducible loops count by the blocks that a
// walk in depth comes to first.
std::vector<bool> findLoopStarts(const Cfg& cfg);

// `liveness` is `Plain` and solved.
UninitialisedReads findUninitialisedReads(const Module& module, const Function& function, const Cfg& cfg,
                                          const Liveness& liveness, std::size_t mostBytes);

}  // namespace ptxopt
