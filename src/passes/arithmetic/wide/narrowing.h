// Comparisons, minima and sums of extended numbers in 32 bits. See narrowing.cpp.
#pragma once

#include "passes/arithmetic/wide/narrow_values.h"

namespace ptxopt {

class Narrowing {
 public:
  Narrowing(const Function& f, PassContext& context, const AddressValues& values, NarrowValues& narrow,
            Edits& edits, Declines& declines)
      : f_(f),
        context_(context),
        module_(context.module),
        values_(values),
        narrow_(narrow),
        edits_(edits),
        declines_(declines) {}

  void look(InstrId id);

 private:
  void compare(InstrId id, const OpcodeForm& form);
  bool isTestOfBits(const Operand& a, const Operand& b, InstrId at) const;
  void choose(InstrId id, bool isMin, bool isSigned);
  void sum(InstrId id, bool subtracts);

  const Function& f_;
  PassContext& context_;
  const Module& module_;
  const AddressValues& values_;
  NarrowValues& narrow_;
  Edits& edits_;
  Declines& declines_;
};

}  // namespace ptxopt
