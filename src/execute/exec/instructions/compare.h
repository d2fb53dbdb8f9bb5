// What the integer and the floating-point comparisons share: setp and set.
//
// compare.cpp has the binders that instructions.def names and the integer and bit types. An opcode whose source
// type, the last in its name, is a floating-point one is handed on untouched to bindFloatCompare().
#pragma once

#include "exec/binder.h"
#include "exec/lanes.h"

namespace ptxopt::exec {

// float_compare.cpp: set (isSet) or setp of f16, f16x2, bf16, bf16x2, f32 and f64.
void bindFloatCompare(Binder& b, bool isSet);

// What becomes of a comparison's result: combined with a predicate, or not.
enum class BoolOp : uint8_t { None, And, Or, Xor };

// Takes .and, .or or .xor. The predicate that goes with it is the last operand, which the caller takes.
inline BoolOp takeBoolOp(Binder& b) {
  const std::string_view name = b.takeOneOf({"and", "or", "xor"});
  if (name == "and") return BoolOp::And;
  if (name == "or") return BoolOp::Or;
  return name == "xor" ? BoolOp::Xor : BoolOp::None;
}

// Takes the predicates of setp: `p|q`, or p, which stands alone where nothing is combined. True when both are
// written.
inline bool bindPredicates(Binder& b, BoolOp boolOp) {
  if (b.isPair(0)) {
    b.pairFirstPredicate(0);
    b.pairPredicate(0);
    return true;
  }
  b.predicateDest(0);
  if (boolOp == BoolOp::None) return false;
  b.append(b.sink(0));
  return true;
}

inline Mask combine(BoolOp op, Mask result, Mask predicate) {
  switch (op) {
    case BoolOp::And: return result & predicate;
    case BoolOp::Or: return result | predicate;
    case BoolOp::Xor: return result ^ predicate;
    case BoolOp::None: break;
  }
  return result;
}

}  // namespace ptxopt::exec
