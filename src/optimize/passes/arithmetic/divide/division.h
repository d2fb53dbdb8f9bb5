// Divisions and remainders as the instructions of a function have them.
#pragma once

#include <optional>

#include "ir/function.h"
#include "ir/module.h"

namespace ptxopt::division {

// A quotient or a remainder of whatever type.
inline bool isDivision(const OpcodeForm& form) { return form.op == Op::Div || form.op == Op::Rem; }

struct Division {
  InstrId at;
  bool isRemainder = false;
  bool isSigned = false;
  unsigned width = 0;  // 16, 32 or 64
  bool isGuarded = false;
  Operand guard;  // if it is
  RegId result;
  Operand dividend, divisor;  // registers or numbers
};

// Operands are integer registers of the width (ir/register_types.h) or literals, with as many bits as the
// division has.
// The instruction as an integer division; none if it is something else or has operands that are not plain registers
// and numbers.
std::optional<Division> integerDivision(const Module& module, const Function& f, InstrId id);

// A float division whose rounding is said: div.rn and its like.
struct FloatDivision {
  InstrId at;
  unsigned width = 0;
  bool flushes = false;  // .ftz
  RoundingMode rounding = RoundingMode::None;
  Operand dividend, divisor;
};
std::optional<FloatDivision> floatDivision(const Module& module, const Function& f, InstrId id);

}  // namespace ptxopt::division
