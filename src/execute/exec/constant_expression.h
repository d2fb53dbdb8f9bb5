// Constant expressions among operands, as ptxas computes them: `1+2*(3)`, casts, `c ? a : b`, WARP_SZ, with C's precedence,
// on integers of 64 bits; and sums, differences, products, quotients and comparisons of decimal numbers, as doubles.
#pragma once

#include <cstdint>
#include <span>

#include "ir/module.h"

namespace ptxopt::exec {

struct Term {
  int64_t value = 0;
  bool isUnsigned = false;
  bool isDouble = false;  // then the value is `number`
  double number = 0;
};

// Reads the expression that `entries` are, whole. False when they are not an integer constant or divide by zero.
bool evaluate(const Function& function, const Module& module, std::span<const Operand> entries, Term& result);
// The same for an integer or a double.
bool evaluateNumber(const Function& function, const Module& module, std::span<const Operand> entries, Term& result);

// The steps: how strongly an operator binds, 0 for none; `a = a OP b`; `t = PREFIX t`, of `-`, `~` and `!`. False where
// ptxas refuses them.
int precedence(Join join);
bool apply(Join join, Term& a, const Term& b);
bool applyPrefix(char prefix, Term& t);

}  // namespace ptxopt::exec
