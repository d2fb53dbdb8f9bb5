// What single instructions compute, in the terms of scalar evolution. Internal to scalar_evolution.cpp.
#pragma once

#include "analysis/values/scalar_evolution.h"

namespace ptxopt {

class ScevInstructions {
 public:
  explicit ScevInstructions(ScalarEvolution& evolution) : s_(evolution) {}

  // What instruction `id` leaves in `reg`; none when that is nothing that expressions can say.
  ExprId result(InstrId id, RegId reg);
  // Whether the instruction computes a constant of the launch, and which: a key for equal ones.
  bool isLaunchConstant(InstrId id, uint64_t& key) const;

 private:
  // The source operand as an expression of `width` bits; none when it is something else.
  ExprId source(InstrId id, const Operand& o, unsigned width);
  ExprId shiftLeft(ExprId a, ExprId amount);
  ExprId shiftRight(ExprId a, ExprId amount);
  ExprId bitAnd(ExprId a, ExprId b);
  ExprId bitOr(ExprId a, ExprId b);
  ExprId convert(InstrId id, const OpcodeForm& form, const Operand& from, unsigned registerWidth);
  ExprId carryPair(InstrId id);
  // For two sources of the result's width; a shift takes the second in 32 bits.
  ExprId ofTwo(const OpcodeForm& form, ExprId a, ExprId b);
  ExprId wide(InstrId id, const OpcodeForm& form, const Operand& a, const Operand& b);

  ScalarEvolution& s_;
};

}  // namespace ptxopt
