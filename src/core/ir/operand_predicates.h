// What analyses, passes and the interpreter ask of an operand.
#pragma once

#include "ir/instruction.h"

namespace ptxopt {

// Part of a constant expression. No name: it may be an address.
inline bool isConstantExpression(const Operand& o) {
  switch (o.kind) {
    case OperandKind::Integer:
    case OperandKind::WideInteger:
    case OperandKind::Float32:
    case OperandKind::Float64:
    case OperandKind::Decimal:
    case OperandKind::Builtin:
    case OperandKind::Cast:
    case OperandKind::Paren: return true;
    default: return false;
  }
}

}  // namespace ptxopt
