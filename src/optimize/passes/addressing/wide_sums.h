// Which sums of 64 bits ptxas makes in the instruction that makes a product of 32-bit numbers (IMAD.WIDE), and
// which registers that a loop advances it keeps as aligned pairs.
//
// A product of the loop of the sum goes into it. So does one before the loop if sums are all that reads it: ptxas
// multiplies in each iteration, and the product itself is not made. If something else reads it, it stays before the
// loop and is added like any other number. (Observed on ptxas 13.0, sm_80 to sm_120, with one to three sums.) A
// register that such a sum advances is a pair around the loop if it starts as one; otherwise its halves are moved in
// each iteration.
// Cost: for each question linear in the readers of a register.
#pragma once

#include "passes/manager/pass.h"
#include "passes/util/expander.h"

namespace ptxopt {

class WideSums {
 public:
  // The expander knows the occurrences of registers.
  WideSums(const Function& f, PassContext& context, const Expander& expander)
      : f_(f), context_(context), expander_(expander) {}

  // Where the product is made that instruction `at` adds by an operand.
  enum class Place : uint8_t { None, InLoop, Outside };
  Place productAdded(const Operand& o, InstrId at) const;

  // Whether what a register has before a loop comes from a mul.wide and its addition, or from a parameter.
  bool startsAligned(RegId reg, LoopId loop) const;

 private:
  // What defines a value, through copies.
  struct Definition {
    InstrId instruction;  // none where there are too many copies, or no instruction
    RegId reg;            // that it writes
  };
  Definition definition(RegId reg, ValueId v) const;
  bool isOnlyAdded(RegId reg, unsigned copies) const;
  bool isReadOutside(RegId reg, ValueId value, LoopId loop) const;

  const Function& f_;
  PassContext& context_;
  const Expander& expander_;
};

}  // namespace ptxopt
