// Puts the chosen forms into the function.
//
// A pointer gets a register of its own, set before the loop and advanced at the end of each latch, before
// the branch; its uses read it with immediates. An index form computes `base + scale * index` before the first
// use in each block, and again after each change of the index. Old computations stay: dce removes what is no
// longer read. Branches and pragmas are not touched: ptxas decides by them what it unrolls.
// Immediates stay within what a machine instruction takes (kMostImmediate).
#pragma once

#include "passes/addressing/address_costs.h"
#include "passes/addressing/address_edits.h"
#include "passes/addressing/formulas.h"
#include "passes/addressing/step.h"

namespace ptxopt {

class GroupRewriter {
 public:
  GroupRewriter(Function& f, PassContext& context, Expander& expander, UnitSteps& steps)
      : f_(f), context_(context), expander_(expander), steps_(steps) {}

  // The counter of a loop, before the groups that read it.
  RegId makeCounter(const Counter& counter, LoopId loop, const ExpansionPlace& preheader);
  // `counter`: its register, where the formula reads one that was made.
  void apply(const UseGroup& group, const Formula& formula, LoopId loop, const ExpansionPlace& preheader,
             const Counter* counter, RegId counterReg);
  // Makes the uses of all groups read what was made for them, when all is applied: constants that come into
  // addresses move the operands after them.
  void finish() { edits_.apply(f_); }

 private:
  void applyPointer(const UseGroup& group, const Formula& formula, LoopId loop, const ExpansionPlace& preheader);
  void applyIndex(const UseGroup& group, const Formula& formula, const ExpansionPlace& preheader,
                  const Counter* counter, RegId counterReg);
  void rewriteUse(const AddressUse& use, RegId reg, int64_t offset);

  Function& f_;
  PassContext& context_;
  Expander& expander_;
  UnitSteps& steps_;
  AddressEdits edits_;
};

}  // namespace ptxopt
