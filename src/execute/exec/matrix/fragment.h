// Fragments: which element of a matrix each lane of a warp holds, and where in its registers.
//
// The layouts follow the formulas that the PTX ISA gives shape by shape (section "Matrix Fragments for mma"), which
// are all one scheme but for m8n8k4 with f16. With group = lane / 4, member = lane % 4 and p the number of elements
// in a 32-bit register (1 for 64-bit elements), element i of a lane is number j = i % p in register r = i / p, and
//   A  row = group + 8 * (r & 1) + 16 * tile, column = member * p + j + 4 * p * step       (r & 1 only from 16 rows
//   on) B  row = member * p + j + 4 * p * step, column = group + 8 * tile C  row = group + 8 * (i / 2 & 1) + 16 *
//   tile, column = 2 * member + (i & 1) + 8 * step
// where step runs fastest over what is left of the columns (of the rows for B), then tile over the rest. f16
// accumulators are numbered like f32 ones and packed in pairs.
//
// m8n8k4 with f16 computes four independent products, one for each 8 lanes {4b..4b+3, 4b+16..4b+19}; the
// coordinates then carry the block b. Lanes hold rows, or columns, as the matrix is row- or column-major.
//
// The same scheme serves wmma, whose fragments PTX leaves opaque: m16n16, m8n32 and m32n8 are taken as tiles of mma
// fragments side by side. f16 operands of wmma have more registers than elements: element i is then a copy of
// element i modulo the number of different ones.
#pragma once

#include <cstdint>

#include "exec/matrix/element.h"

namespace ptxopt::exec::matrix {

enum class Matrix : uint8_t { A, B, C, D };
enum class Layout : uint8_t { Row, Column };

struct Coordinate {
  unsigned row = 0, column = 0;
  unsigned block = 0;  // m8n8k4 with f16: which of its four products
  friend bool operator==(const Coordinate&, const Coordinate&) = default;
};

enum class Scheme : uint8_t {
  Tiled,        // the scheme above
  QuadRows,     // m8n8k4, 16-bit: a lane holds one row (A, C/D) or one column (B)
  QuadColumns,  // m8n8k4, 16-bit: a lane holds part of a column (A) or row (B)
  QuadF32,      // m8n8k4: f32 accumulators
};

struct FragmentShape {
  Matrix matrix = Matrix::A;
  Element element = Element::F16;
  Scheme scheme = Scheme::Tiled;
  unsigned rows = 0, columns = 0;
  unsigned blocks = 1;           // 4 for the quad schemes
  unsigned slotBits = 32;        // bits between elements in a register; 8 for all of kind::f8f6f4
  unsigned slotShift = 0;        // where in the slot its bits begin: e2m1 lies in bits 2..5 of a byte
  unsigned registerBits = 32;    // 64 for f64
  unsigned elementsPerLane = 0;  // copies included

  unsigned perRegister() const { return registerBits / slotBits; }
  unsigned registers() const { return elementsPerLane / perRegister(); }
  unsigned distinctPerLane() const { return rows * columns * blocks / 32; }

  // Which element of the matrix is element `index` of `lane`; index < elementsPerLane.
  Coordinate elementOf(unsigned lane, unsigned index) const;
  // Where in its register the bits of element `index` begin.
  unsigned shiftOf(unsigned index) const { return index % perRegister() * slotBits + slotShift; }
  // The raw bits of element `index` in its register, and the register with them replaced.
  uint64_t extract(uint64_t registerValue, unsigned index) const {
    return registerValue >> shiftOf(index) & elementMask();
  }
  uint64_t insert(uint64_t registerValue, unsigned index, uint64_t raw) const {
    const unsigned shift = shiftOf(index);
    return (registerValue & ~(elementMask() << shift)) | (raw & elementMask()) << shift;
  }

 private:
  uint64_t elementMask() const { return ~uint64_t{0} >> (64 - bits(element)); }
};

// A fragment in the tiled scheme; `container` is the size of an element's slot in bits, at least bits(element).
FragmentShape tiledFragment(Matrix matrix, Element element, unsigned rows, unsigned columns, unsigned container);

}  // namespace ptxopt::exec::matrix
