// 64-bit values that were taken apart, sent to another lane in halves, and put together again.
//
// What:       `mov.b64 r, {low, high}` whose sources come, by copies and shuffles only, from one
//             `mov.b64 {low, high}, s`: then r is what s is, in this lane or in another one.
// Invariants: all of it is one block, without guards, and both halves take shuffles of the same kinds with the same
//             numbers for lane, segment and mask. So both come from one lane, and from the same pass of that lane
//             through the block. Where no lane sends, both are undefined.
// Cost:       linear in the copies and shuffles between, at most kMostSteps.
#pragma once

#include "analysis/dataflow/live_intervals.h"
#include "ir/module.h"

namespace ptxopt {

struct SentHalves {
  InstrId unpack;                  // not valid: it is none
  const Operand* whole = nullptr;  // what `unpack` takes apart: a register
};

// For instruction `id`.
SentHalves sentHalves(const Module& module, const Function& f, const Cfg& cfg, const SlotIndexes& slots,
                      const LiveIntervals& intervals, InstrId id);

}  // namespace ptxopt
