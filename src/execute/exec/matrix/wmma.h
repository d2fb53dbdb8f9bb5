// wmma.load and wmma.store: fragments of wmma, and where their elements lie in memory.
//
// PTX leaves the layout of a wmma fragment open: only that wmma.load, wmma.mma and wmma.store of one shape, type
// and layout agree, and that an element-wise operation on registers is one on the matrix. The layout here is that
// of mma fragments tiled side by side (fragment.h); it does not depend on row or col. f16 operands have 8 registers
// whatever the shape: where that is more than the matrix needs, elements are held in several copies, and
// load writes all.
//
// Elements are at offset row * stride + column for .row, column * stride + row for .col, counted in elements.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "exec/matrix/fragment.h"

namespace ptxopt::exec::matrix {

// The fragment of one operand of wmma mMnNkK; nothing when there is no such form. Four-bit and one-bit operands are
// row-major as A and column-major as B only; C and D may be either.
std::optional<FragmentShape> wmmaFragment(Matrix matrix, Element element, Layout layout, unsigned m, unsigned n,
                                          unsigned k);

struct WmmaMove {
  FragmentShape fragment;
  Layout layout = Layout::Row;
  bool isStore = false;

  // The stride, in elements, of an instruction that gives none.
  unsigned defaultStride() const { return layout == Layout::Row ? fragment.columns : fragment.rows; }
  // Where element `index` of `lane` lies, in bits from the address operand.
  uint64_t bitOffset(unsigned lane, unsigned index, uint64_t stride) const;
};

// From the components after `wmma`: load, a, sync, aligned, row, m16n16k16, global, f16.
std::optional<WmmaMove> wmmaMove(std::span<const std::string_view> components);

}  // namespace ptxopt::exec::matrix
