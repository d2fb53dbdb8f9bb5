// Recomputing a value instead of copying it back.
//
// Only what is cheap, pure and the same wherever it stands: moves of numbers, addresses and special registers that
// do not change, parameters of a kernel, cvta, integer and single-precision arithmetic without a carry. Its
// operands must hold the same values, by number, at the new place; nothing guarded, no labels, no groups, no components of
// vectors. A sum with a constant (`%r1 + 4`) is recomputed as it stands. Cost: operands times the logarithm of their segments.
#pragma once

#include "passes/manager/pass.h"

namespace ptxopt {

bool isCheapDefinition(const Module& module, const Function& f, const Instruction& i);

// Whether one of the values of `reg` has a cheap definition. Such a value is computed anew by ptxas where it is
// needed and takes no register in between; a copy of it is another value to ptxas, and the machine code would
// change.
bool hasCheapValue(const Module& module, const Function& f, const LiveIntervals& intervals,
                   const SlotIndexes& slots, RegId reg);

// Whether the registers that `definition` reads hold the same values at `where`.
bool readsSameAt(const Function& f, const LiveIntervals& intervals, const SlotIndexes& slots, InstrId definition,
                 SlotIndex where);

// The definition again, before `place`.
void insertAgain(Function& f, InstrId definition, InstrId place);

}  // namespace ptxopt
