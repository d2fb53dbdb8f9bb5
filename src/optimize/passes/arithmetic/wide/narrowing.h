// Comparisons, minima and sums of extended numbers in 32 bits. See narrowing.cpp.
#pragma once

#include "passes/arithmetic/wide/narrow_values.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {

class Narrowing {
 public:
  Narrowing(const Function& f, PassContext& context, const AddressValues& values, NarrowValues& narrow,
            Edits& edits, MissedRemarks& missed)
      : f_(f),
        context_(context),
        module_(context.module),
        values_(values),
        narrow_(narrow),
        edits_(edits),
        missed_(missed) {}

  // The only operations that look() does something about.
  static bool knows(Op op) {
    return op == Op::Setp || op == Op::Min || op == Op::Max || op == Op::Add || op == Op::Sub;
  }
  void look(InstrId id);

 private:
  void compare(InstrId id, const OpcodeForm& form);
  bool isTestOfBits(const Operand& a, const Operand& b, InstrId at) const;
  bool endsUnrolledLoop(const Operand& a, const Operand& b, InstrId at);
  void choose(InstrId id, bool isMin, bool isSigned);
  void sum(InstrId id, bool subtracts);

  const Function& f_;
  PassContext& context_;
  const Module& module_;
  const AddressValues& values_;
  NarrowValues& narrow_;
  Edits& edits_;
  MissedRemarks& missed_;
};

}  // namespace ptxopt
