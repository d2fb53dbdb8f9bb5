// Moves the last reads of a copied value above what overwrites the copy, so that the copy can go.
//
//     mov b, a            mov b, a
//     add b, b, 1   ->    use a          now a ends before b takes another value
//     use a               add b, b, 1
// and the same with a and b the other way around.
// Only within one block and one scope, only instructions without any effect but their results, and only past instructions
// that neither write what they read nor touch what they write. (LLVM's two-address pass does this under the same knob.)
// It changes the order of instructions, so ptxas may schedule otherwise: off by default.
// Cost: for each copy, the instructions between it and the last read, up to kMostSteps.
#pragma once

#include "passes/coalescing/coalescer.h"

namespace ptxopt {

// For a copy that stays because its sides interfere. Whether instructions were moved; the live ranges do not hold
// then.
bool rescheduleReads(const Module& module, Function& f, const SlotIndexes& slots, const Cfg& cfg,
                     const LiveIntervals& intervals, const Copy& copy);

}  // namespace ptxopt
