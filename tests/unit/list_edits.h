// Changes of an instruction list that the unit tests make.
#pragma once

#include "ir/module.h"

namespace ptxopt::testing {

// A copy of `what` in front of `where`.
inline InstrId insertCopy(Function& f, InstrId what, InstrId where) {
  const InstrId id(f.instructions.size());
  f.instructions.push_back(f[what]);
  Instruction& i = f[id];
  i.firstOperand = static_cast<decltype(i.firstOperand)>(f.operands.size());
  for (std::size_t k = 0; k < i.operandCount; ++k) f.operands.push_back(f.operands[f[what].firstOperand + k]);
  i.previous = f[where].previous;
  i.next = where;
  (i.previous.valid() ? f[i.previous].next : f.first) = id;
  f[where].previous = id;
  return id;
}

}  // namespace ptxopt::testing
