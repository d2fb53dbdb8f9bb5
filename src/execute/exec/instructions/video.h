// What the scalar and the SIMD video instructions share: operations on parts of registers as wide signed integers.
#pragma once

#include <cstdint>
#include <string_view>

#include "exec/binder.h"

namespace ptxopt::exec {

// Operands are sign- or zero-extended parts, so every intermediate result is exact, but for a part shifted left by
// up to 31 bits to which something is added: of that the low 32 bits count, and it wraps.
using VideoFunction = int64_t (*)(int64_t a, int64_t b);

namespace video {

constexpr int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
constexpr int64_t absdiff(int64_t a, int64_t b) { return a < b ? b - a : a - b; }
constexpr int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t max(int64_t a, int64_t b) { return a < b ? b : a; }

}  // namespace video

// Takes .eq, .ne, .lt, .le, .gt or .ge: a function that returns 1 or 0.
VideoFunction takeVideoComparison(Binder& b);

// Bits of a register: sign- or zero-extended.
constexpr int64_t extendPart(uint32_t value, unsigned shift, unsigned bits, bool isSigned) {
  const uint64_t raised = static_cast<uint64_t>(value >> shift) << (64 - bits);
  return isSigned ? static_cast<int64_t>(raised) >> (64 - bits) : static_cast<int64_t>(raised >> (64 - bits));
}

// The nearest number of `bits` bits.
constexpr int64_t clampTo(int64_t value, unsigned bits, bool isSigned) {
  const int64_t low = isSigned ? -(int64_t{1} << (bits - 1)) : 0;
  const int64_t high = (int64_t{1} << (isSigned ? bits - 1 : bits)) - 1;
  return value < low ? low : value > high ? high : value;
}

}  // namespace ptxopt::exec
