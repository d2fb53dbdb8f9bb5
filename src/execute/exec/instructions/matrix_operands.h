// What the instructions that a whole warp executes together on matrices have in common.
//
// They are .sync.aligned: a thread waits until all 32 have come to the same instruction. So they are bound as
// collective operations of all lanes, and lanes that take different ways and never meet there end in the report of
// a deadlock. A lane that has exited, or that the block does not have, makes the instruction an error.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "exec/binder.h"
#include "exec/matrix/mma.h"
#include "exec/warp.h"

namespace ptxopt::exec {

// Makes the op a collective one of all lanes. Appends an argument: call it before any operand is taken.
inline void bindWholeWarp(Binder& b) {
  b.append(b.constant(kAllLanes, 4));
  b.collective(0);
}

// Throws unless all lanes are there.
void requireWholeWarp(const Warp& w, Mask active);

// The value that all lanes give for an operand which must not differ between them; `what` names it.
uint64_t uniformValue(const Warp& w, const Arg& a, const char* what);

// Registers of 4 or 8 bytes, zero-extended and truncated.
void readRegisters(const Warp& w, std::span<const Arg> args, std::span<matrix::Lanes> lanes);
void writeRegisters(const Warp& w, std::span<const Arg> args, std::span<const matrix::Lanes> lanes);

// An operand of `count` registers of `bits` each. `what` names it in the error about another number.
std::vector<Arg> matrixSources(Binder& b, std::size_t operand, unsigned count, unsigned bits, const char* what);
std::vector<Arg> matrixDests(Binder& b, std::size_t operand, unsigned count, unsigned bits, const char* what);

// All modifiers, for the readers of exec/matrix.
inline std::vector<std::string_view> takeComponents(Binder& b) { return b.takeRest(); }

// Sparse matrices are not supported in any of these instructions.
void refuseSparse(const Binder& b);

}  // namespace ptxopt::exec
