// wide-multiply: arithmetic of 64 bits on numbers that are extended from 32.
//
// What:       products become mul.wide, with an addition that reads them, which ptxas makes one instruction of;
//             sums of extended numbers that are multiplied are multiplied one by one; comparisons, minima and
//             sums are done in 32 bits. ptxas does none of that by itself; it only leaves out halves of
//             results that nobody reads.
// Algorithm:  ranges of values say, block by block, which numbers are extended (wide/narrow_values.h). Each
//             instruction is then looked at once (wide/products.cpp, wide/narrowing.cpp). All plans are made on
//             the unchanged function, and all edits at the end.
// Invariants: each register holds at each place what it held before: a value is computed in another way at the
//             same place, and dce removes what is no longer needed. A number counts as extended only if
//             that is proved for every execution.
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
    if (!f[id].isInstruction()) continue;
    const Op op = context.module.form(f[id]).op;
    const bool isProduct = WideProducts::knows(op), isOther = Narrowing::knows(op);
    if ((!isProduct && !isOther) || !slots[id].valid() || context.isDeclined(id)) continue;
    if (!(isProduct && products.look(id)) && isOther) others.push_back(id);
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
