// ldmatrix, stmatrix and movmatrix: matrices of 8 x 8 and their like between shared memory and a warp's registers.
//
// Layouts: exec/matrix/moves.h. Each lane whose address counts gives a row of 16 bytes, aligned to 16, in shared
// memory; addresses without a state space are generic and must lie there.
#include <fmt/format.h>

#include <cstring>

#include "exec/instructions/matrix_operands.h"
#include "exec/instructions/memory_operand.h"
#include "exec/matrix/moves.h"

namespace ptxopt::exec {

namespace {

using matrix::Lanes;
using matrix::SharedRow;

constexpr unsigned kMostMatrixRegisters = 4;

struct MatrixMoveOperands {
  matrix::MatrixMove move;
  std::vector<Arg> registers;
  Location address;
};

std::byte* rowOf(Warp& w, const Location& place, unsigned lane, Access access) {
  const uint64_t address = place.address(w, lane);
  if (!isShared(place.space, address))
    throw LaneFault{FaultKind::OutOfBounds, lane,
                    fmt::format("a row at {:#x}, which is not in shared memory", address)};
  return w.memory(place.space, lane, address, sizeof(SharedRow), sizeof(SharedRow), access);
}

Step loadRows(Warp& w, const Op& op, Mask active) {
  requireWholeWarp(w, active);
  const MatrixMoveOperands& o = *static_cast<const MatrixMoveOperands*>(op.data);
  std::array<SharedRow, kLanes> rows;
  for (unsigned i = 0; i < o.move.rows(); ++i)
    std::memcpy(rows[i].data(), rowOf(w, o.address, i, Access::Read), sizeof rows[i]);
  std::array<Lanes, kMostMatrixRegisters> registers;
  matrix::loadMatrices(o.move, rows, registers);
  writeRegisters(w, o.registers, registers);
  return Step::Next;
}

Step storeRows(Warp& w, const Op& op, Mask active) {
  requireWholeWarp(w, active);
  const MatrixMoveOperands& o = *static_cast<const MatrixMoveOperands*>(op.data);
  std::array<Lanes, kMostMatrixRegisters> registers;
  readRegisters(w, o.registers, registers);
  std::array<SharedRow, kLanes> rows;
  matrix::storeMatrices(o.move, registers, rows);
  for (unsigned i = 0; i < o.move.rows(); ++i)
    std::memcpy(rowOf(w, o.address, i, Access::Write), rows[i].data(), sizeof rows[i]);
  return Step::Next;
}

// args: mask, d, a
Step transpose(Warp& w, const Op& op, Mask active) {
  requireWholeWarp(w, active);
  Lanes lanes;
  readRegisters(w, {&op.args[2], 1}, {&lanes, 1});
  matrix::transposeMatrix(lanes, lanes);
  writeRegisters(w, {&op.args[1], 1}, {&lanes, 1});
  return Step::Next;
}

void bindRows(Binder& b, bool isStore) {
  bindWholeWarp(b);
  const Space space = b.has("shared") || b.has("shared::cta") ? Space::Shared : Space::Generic;
  const std::vector<std::string_view> components = takeComponents(b);
  const auto move = isStore ? matrix::stmatrixShape(components) : matrix::ldmatrixShape(components);
  if (!move || move->registers() > kMostMatrixRegisters) return b.unsupported("this shape and type");
  MatrixMoveOperands o;
  o.move = *move;
  o.registers = isStore ? matrixSources(b, 1, move->registers(), 32, "the matrices")
                        : matrixDests(b, 0, move->registers(), 32, "the matrices");
  o.address = Location(b.address(isStore ? 0 : 1, space));
  b.data(std::move(o));
  b.handler(isStore ? storeRows : loadRows);
}

}  // namespace

void bindLdmatrix(Binder& b) { bindRows(b, false); }
void bindStmatrix(Binder& b) { bindRows(b, true); }

void bindMovmatrix(Binder& b) {
  bindWholeWarp(b);
  for (const char* word : {"sync", "aligned", "m8n8", "trans", "b16"})
    if (!b.take(word)) b.unsupported("this shape and type");
  b.dest(0, ScalarType::b32);
  b.source(1, ScalarType::b32);
  b.handler(transpose);
}

}  // namespace ptxopt::exec
