// Instructions that compute a value from values, as a table of patterns.
//
// A pattern is the opcode, with {x|y} where one of several texts may stand, and a letter for each operand, the
// result first:
//   s i l h f d p   a value of class I16, I32, I64, F16, F32, F64, Pred; integers and floats may be numbers
//   x y             bits of 32, 64, in a register of any type
//   I S L F D X Y   the same, but a register
//   P               a predicate or its negation
//   a               a shift amount or a field's position or length: I32
//   b               a number of 8 bits
//   n N W           a divisor that is not 0: u16, u32, u64
//   m M V           a divisor that is neither 0 nor -1: s16, s32, s64
// A result may be two predicates, `pq`, written p|q.
#pragma once

#include <span>
#include <string_view>

#include "body.h"

namespace kernels {

struct Operation {
  std::string_view opcode;
  std::string_view operands;
  Feature feature = Feature::Arithmetic;
  int arch = 70;
  bool approximate = false;
};

std::span<const Operation> operations();

// One instruction of the feature, possibly guarded, and what its operands need before it.
void emitOperation(Body& body, Feature feature);

}  // namespace kernels
