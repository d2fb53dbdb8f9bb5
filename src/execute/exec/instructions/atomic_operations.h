// What atom, red, red.async and cp.reduce do to the value in memory.
//
// A combination is a function of the old word and the operand, chosen by operation and type:
//   inc  old >= b ? 0 : old + 1        dec  old == 0 || old > b ? b : old - 1
//   add of f32, f64, f16, bf16 rounds to nearest even; of f32 in global memory it flushes subnormal operands and
//   results to zeros of their sign, in shared memory it does not (PTX ISA, atom). The f16 and bf16 forms do not
//   flush. min and max of f16 and bf16 are those of the instructions min and max without .NaN.
// Packed types combine their halves apart.
//
// A change of a word in memory is atomic for other host threads that run blocks of the same grid, when they may.
#pragma once

#include <string_view>

#include "exec/instructions/memory_operand.h"
#include "support/int128.h"

namespace ptxopt::exec {

namespace atomics {

// Combines the word at `p`, which is aligned to its size, with an operand; returns what was there. Atomic when
// other host threads may use the word: when it `isConcurrent`.
using Change = uint64_t (*)(std::byte* p, uint64_t operand, bool isConcurrent);

struct Combination {
  unsigned bytes = 0;  // of the word; 0: there is no such operation
  Change inGlobal = nullptr;
  Change inShared = nullptr;  // in shared memory
};

// Half-precision types need `noftz` for add.
Combination findCombination(std::string_view op, ScalarType type);

// Stores `desired` at `p`, which is aligned to 16, when `expected` is there; returns what was there.
UInt128 compareAndSwap128(std::byte* p, UInt128 expected, UInt128 desired);

// Combines each word of a range: what is left of a bulk reduction at run time. To be called unless empty.
struct Reducer {
  unsigned bytes = 0;
  Change change = nullptr;
  bool isConcurrent = false;

  explicit operator bool() const { return change != nullptr; }
  void operator()(std::byte* to, const std::byte* from, std::size_t size) const;
};

// Empty when there is no such operation.
Reducer findReducer(std::string_view op, ScalarType type, bool toShared);

}  // namespace atomics

// The operation's modifier among and, or, ..., max, taken; .noftz with it. Empty when there is none.
std::string_view takeAtomicOperation(Binder& b, ScalarType type);

}  // namespace ptxopt::exec
