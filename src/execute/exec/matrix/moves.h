// ldmatrix, stmatrix and movmatrix: matrices between rows in shared memory and registers of a warp.
//
// Every form reads or writes rows of 16 bytes. Row r, counted over all matrices of the instruction, is at the
// address that lane r gives. With group = lane / 4, member = lane % 4 and j the position in a 32-bit register:
//   8x8 of 16 bits         register t: row group of matrix t, elements 2 * member + j
//   the same, .trans       register t: rows 2 * member + j of matrix t, element group
//   8x16 of 6 or 4 bits    register t: row group of matrix t, elements 4 * member + j, one in each byte
//   16x16 of 8, 6, 4 bits  register 2t + h: rows 4 * member + j of matrix t, element group + 8 * h (always .trans)
//   16x8 of 8 bits (store) register t: memory rows 2 * member + j % 2 of matrix t, byte group + 8 * (j / 2)
//   (.trans)
// Packed sources: .b6x16_p32 has 16 elements of 6 bits and 4 bytes of padding, .b4x16_p64 16 elements of 4 bits and
// 8 bytes; each element goes to the low bits of a byte, whose other bits are 0.
//
// The ISA shows the 16x16 and 16x8 layouts in figures only; these agree with what CUTLASS's copy traits, with the
// byte permutation that it does around the load, say of the hardware.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "exec/matrix/mma.h"

namespace ptxopt::exec::matrix {

using SharedRow = std::array<uint8_t, 16>;

enum class MoveForm : uint8_t { Rows16, Columns16, RowsPacked, Columns8, StoreColumns8 };

struct MatrixMove {
  MoveForm form = MoveForm::Rows16;
  unsigned matrices = 1;
  unsigned memoryBits = 16;  // of an element in memory

  unsigned rowsPerMatrix() const { return form == MoveForm::Columns8 ? 16 : 8; }
  // How many lanes, from lane 0, give addresses of rows.
  unsigned rows() const { return matrices * rowsPerMatrix(); }
  unsigned registers() const { return form == MoveForm::Columns8 ? 2 * matrices : matrices; }
  unsigned registerBits() const { return memoryBits == 16 ? 16 : 8; }  // of an element in a register

  struct Place {
    unsigned row;        // of all matrices, the lane whose address it is
    unsigned bitOffset;  // in the row
  };
  Place placeOf(unsigned lane, unsigned registerIndex, unsigned position) const;
};

// From the components after the name (sync, aligned, m8n8, x4, trans, shared, b16).
std::optional<MatrixMove> ldmatrixShape(std::span<const std::string_view> components);
std::optional<MatrixMove> stmatrixShape(std::span<const std::string_view> components);

// `rows` has move.rows() elements, `registers` move.registers().
void loadMatrices(const MatrixMove& move, std::span<const SharedRow> rows, std::span<Lanes> registers);
void storeMatrices(const MatrixMove& move, std::span<const Lanes> registers, std::span<SharedRow> rows);

// movmatrix.m8n8.trans.b16. `to` may be `from`.
void transposeMatrix(const Lanes& from, Lanes& to);

}  // namespace ptxopt::exec::matrix
