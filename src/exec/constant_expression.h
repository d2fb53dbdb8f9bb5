// Constant expressions of integers among operands: `1+2*(3)`, `.s64 casts`, `c ? a : b`, WARP_SZ; with C's
// precedence.
#pragma once

#include <cstdint>
#include <span>

#include "ir/module.h"

namespace ptxopt::exec {

struct Term {
  int64_t value = 0;
  bool isUnsigned = false;
};

// Reads the expression that `entries` are, whole. False when they are no constant or divide by zero.
bool evaluate(const Function& function, const Module& module, std::span<const Operand> entries, Term& result);

}  // namespace ptxopt::exec
