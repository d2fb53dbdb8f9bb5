// D = A * B + C on whole matrices of raw elements: the arithmetic of mma, wmma and wgmma.
//
// Integers: products and sums are exact; the result wraps to 32 bits, or with satfinite is clamped once at the end,
// which is one of the orders the ISA allows (it says the accumulated result is clamped). b1: A and B are words of
// 32 elements; the bits of a xor b, or a and b, are counted and added, wrapping.
//
// f64: a chain d = fma(a[k], b[k], d) from d = c, k ascending, each rounded as the instruction says. The ISA fixes
// the precision of a step and not the order; ascending k is our choice.
//
// f16, bf16, tf32 and the 8-bit and narrower floats: the ISA leaves order, rounding and intermediate precision of
// the sum open, and hardware generations differ. Here all products and C are added exactly, and the sum is rounded
// once, to nearest even, to the type of D. That is at least as precise as required, does not depend on the order of
// k or on how a sum is split over lanes, and can be checked against any other exact computation. Details:
// subnormals count; any NaN, infinity times zero, or infinities of both signs give NaN, 0x7fffffff in f32 and
// 0x7fff in f16; a sum that is zero is -0 only if every product and C are -0.
#pragma once

#include <cstdint>
#include <span>

#include "exec/matrix/element.h"
#include "exec/value/rounding.h"

namespace ptxopt::exec::matrix {

enum class BitOperation : uint8_t { Xor, And };

struct Arithmetic {
  Element a = Element::F16, b = Element::F16, c = Element::F32, d = Element::F32;
  bool satfinite = false;
  BitOperation bitOperation = BitOperation::Xor;
  Rounding rounding = Rounding::Nearest;  // f64 only
};

// a is m x k by rows, b is k x n by columns, c and d are m x n by rows; for b1 an element of a and b is a word of
// 32 bits along k and k counts words. c may be the same as d.
void multiplyAdd(const Arithmetic& how, unsigned m, unsigned n, unsigned k, std::span<const uint64_t> a,
                 std::span<const uint64_t> b, std::span<const uint64_t> c, std::span<uint64_t> d);

// The float case with the values of a and b given: of at most 26 bits, with products in the range of
// ExactSum. For block scaling, where an element is a product itself.
void multiplyAddValues(Element cType, Element dType, unsigned m, unsigned n, unsigned k, std::span<const double> a,
                       std::span<const double> b, std::span<const uint64_t> c, std::span<uint64_t> d);

}  // namespace ptxopt::exec::matrix
