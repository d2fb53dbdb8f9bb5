// wide-multiply: arithmetic of 64 bits on numbers that are extended from 32.
//
// What:       products become mul.wide, with an addition that reads them, which ptxas makes one instruction of;
//             sums of extended numbers that are multiplied are multiplied one by one; comparisons, minima and
//             sums are done in 32 bits. ptxas does none of that by itself, though it computes halves that
//             nobody reads never.
// Algorithm:  what is extended is known by ranges of values, block by block (wide/narrow_values.h); then one
//             look at each instruction (wide/products.cpp, wide/narrowing.cpp), all on the function as it is,
//             and the edits at once.
// Invariants: each register holds at each place what it held before: a value is computed in another way where
//             it was computed, and what is needed no more goes with live-dead. Extended is what is proved for
//             every execution.
// Cost:       linear, times that of ranges and scalar evolution, which are asked for operands of such
//             instructions only.
// Declines:   too-large, and by instruction what products.cpp and narrowing.cpp name.
#include "passes/arithmetic/wide/narrowing.h"
#include "passes/arithmetic/wide/products.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {

bool wideMultiply(Function& f, PassContext& context) {
  if (!context.hasUsableIntervals()) return false;
  const SlotIndexes& slots = context.analyses.slotIndexes();
  const AddressValues values(f, context);
  NarrowValues narrow(f, context, values);
  Edits edits;
  MissedRemarks missed;
  WideProducts products(f, context, values, narrow, edits, missed);
  std::vector<InstrId> others;
  for (const InstrId id : f) {
    if (!f[id].isInstruction() || !slots[id].valid()) continue;
    if (!products.look(id)) others.push_back(id);
  }
  products.finish();
  Narrowing narrowing(f, context, values, narrow, edits, missed);
  for (const InstrId id : others)
    if (!products.isTaken(id)) narrowing.look(id);
  missed.tell(context, "instruction");
  if (edits.empty()) return false;
  edits.apply(context.module, f);
  return true;
}

}  // namespace ptxopt
