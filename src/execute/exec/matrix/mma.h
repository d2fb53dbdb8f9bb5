// mma.sync and wmma.mma: their forms, and a whole warp's D = A * B + C on registers.
//
// Supported: every dense mma.sync form of PTX ISA 9.0 without block scaling (f16, bf16, tf32, f64, s8/u8, s4/u4,
// b1, e4m3/e5m2, and kind::f8f6f4 with its five types), and every wmma.mma form. Block-scaled kinds are in
// mma_scaled.h. Refused, with nullopt: mma.sp, .satfinite of wmma.mma on f16 (gone since PTX 6.5), and what ptxas
// does not take either.
//
// Layouts of fragments: fragment.h. Arithmetic: product.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "exec/matrix/fragment.h"
#include "exec/matrix/product.h"

namespace ptxopt::exec::matrix {

// One register of 32 lanes. Registers of 32 bits lie in the low half; the high half is not read and written as 0.
using Lanes = std::array<uint64_t, 32>;

// How a fragment's registers correspond to a matrix in memory order.
class Operand {
 public:
  Operand() = default;
  explicit Operand(const FragmentShape& fragment);

  const FragmentShape& fragment() const { return fragment_; }
  unsigned registers() const { return fragment_.registers(); }
  // Elements of the matrix, all blocks together; for b1 words of 32.
  std::size_t size() const { return size_; }

  // `matrix` is in the order that multiplyAdd wants. Copies of an element must agree; the last one is taken.
  void gather(std::span<const Lanes> registers, std::span<uint64_t> matrix) const;
  void scatter(std::span<const uint64_t> matrix, std::span<Lanes> registers) const;

 private:
  // Where element (or word) i of every lane lies in its registers.
  struct Slot {
    uint8_t registerIndex, shift;
  };

  FragmentShape fragment_;
  std::size_t size_ = 0;
  uint64_t mask_ = 0;             // of an element
  std::vector<Slot> slots_;       // by element of a lane
  std::vector<uint32_t> places_;  // in the matrix, by lane and then element
};

struct MmaShape {
  unsigned m = 0, n = 0, k = 0;
  Layout aLayout = Layout::Row, bLayout = Layout::Column;
  Arithmetic arithmetic;
  Operand a, b, c, d;
};

// From the components after `mma` (sync, aligned, m16n8k16, row, col, ...), and after `wmma` (mma, sync, ...).
std::optional<MmaShape> mmaShape(std::span<const std::string_view> components);
std::optional<MmaShape> wmmaShape(std::span<const std::string_view> components);

// Each span has the registers of its operand. d may be c.
void multiply(const MmaShape& shape, std::span<const Lanes> a, std::span<const Lanes> b, std::span<const Lanes> c,
              std::span<Lanes> d);

}  // namespace ptxopt::exec::matrix
