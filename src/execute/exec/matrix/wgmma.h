// wgmma.mma_async, dense: forms, the layouts of a warpgroup's registers, and matrices in shared memory.
//
// A warpgroup of four warps computes D (64 x N) = A * B + D. Warp w holds rows 16w to 16w + 15 of D, and of A where
// A is in registers; within a warp the layout is that of mma m16 (fragment.h): A as in m16n8kK, D as tiles of 16 x
// 8 side by side. f16 accumulators are packed in pairs.
//
// Matrices in shared memory are described by 64 bits: start address in bits 0-13, leading dimension byte offset
// (LBO) in 16-29, stride dimension byte offset (SBO) in 32-45, each divided by 16; base offset in 49-51; swizzle in
// 62-63 (0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes). Other bits must be 0. In units of 16 bytes, with W the
// swizzle width (1, 2, 4, 8 units) and P elements in a unit, element (mn, k) is, before swizzling, at
//   K-major   unit u = k / P: (mn % 8) * W + (mn / 8) * SBO + u * (no swizzle ? LBO : 1)
//   MN-major  unit u = mn / P, none: u * SBO + k % 8 + (k / 8) * LBO
//             otherwise:        u % W + (u / W) * LBO + (k % 8) * W + (k / 8) * SBO
// after the unit that the start address names; LBO of swizzled K-major matrices is not used. Swizzling then XORs
// the low log2(W) bits of the unit's number in shared memory with those three bits higher, from which the base
// offset has been subtracted: the number of the 128-byte line in the pattern. MN-major is there for 16-bit types
// only.
//
// Arithmetic: product.h. imm-scale -1 negates the elements of A or B. With scale-d false, C is +0.
// Refused: wgmma.mma_async.sp, and reserved bits set in a descriptor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "exec/matrix/mma.h"

namespace ptxopt::exec::matrix {

inline constexpr unsigned kWarpgroupWarps = 4;
inline constexpr unsigned kRowsPerWarp = 16;

struct WgmmaShape {
  unsigned n = 0, k = 0;  // m is 64
  Arithmetic arithmetic;  // c is d
  Operand a, d;           // of one warp: 16 x k and 16 x n

  // Whether imm-trans-a and imm-trans-b are operands; K-major otherwise.
  bool hasMajorness() const { return bits(arithmetic.a) == 16; }
  bool hasScale() const { return isFloat(arithmetic.a); }
};

// From the components after `wgmma`: mma_async, sync, aligned, m64n128k16, f32, f16, f16.
std::optional<WgmmaShape> wgmmaShape(std::span<const std::string_view> components);

enum class Major : uint8_t { K, Mn };

struct MatrixDescriptor {
  uint32_t start = 0, leading = 0, stride = 0;  // in bytes
  unsigned baseOffset = 0;
  unsigned swizzleUnits = 1;  // W

  // The byte of shared memory with the first bit of element (mn, k); mn is the row of A or the column of B.
  uint32_t addressOf(Major major, unsigned elementBits, unsigned mn, unsigned k) const;
};

std::optional<MatrixDescriptor> decodeDescriptor(uint64_t descriptor);

// `lines` rows of A or columns of B from `first` on, from shared memory, in the order that multiplyWarp wants.
// read(address, bytes) reads 1, 2 or 4 bytes at an address of the block's shared memory, little-endian.
template <typename Read>
std::vector<uint64_t> loadShared(const WgmmaShape& shape, Matrix matrix, const MatrixDescriptor& descriptor,
                                 Major major, unsigned first, unsigned lines, Read read) {
  const Element element = matrix == Matrix::A ? shape.arithmetic.a : shape.arithmetic.b;
  const unsigned step = elementsInWord(element);
  const unsigned bytes = bits(element) * step / 8;
  std::vector<uint64_t> result;
  result.reserve(std::size_t{lines} * shape.k / step);
  // A by rows and B by columns are the same here: k runs fastest.
  for (unsigned mn = first; mn < first + lines; ++mn)
    for (unsigned k = 0; k < shape.k; k += step)
      result.push_back(read(descriptor.addressOf(major, bits(element), mn, k), bytes));
  return result;
}

struct WgmmaScales {
  bool accumulate = true;  // scale-d
  bool negateA = false, negateB = false;
};

// The part of one warp: `a` has its 16 rows, `d` its accumulator registers.
void multiplyWarp(const WgmmaShape& shape, const WgmmaScales& scales, std::span<const uint64_t> a,
                  std::span<const uint64_t> b, std::span<Lanes> d);

}  // namespace ptxopt::exec::matrix
