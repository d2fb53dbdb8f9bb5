// Multipliers that take the place of constant divisors.
//
// Of the lemmas of T. Granlund and P. Montgomery, "Division by invariant integers using multiplication" (1994), and
// H. Warren, "Hacker's Delight", chapter 10: with M = floor(2^p / d) + 1 and e = M * d - 2^p, floor(x * M / 2^p) is
// floor(x / d) for all x up to `most` if e * n < 2^p, where n is the largest x up to `most` that leaves d - 1. For
// negative x the product rounded down is one less than the quotient. All for widths up to 64.
#pragma once

#include <cstdint>
#include <optional>

namespace ptxopt::division {

// x / d = (x * multiplier) >> (width + shift), the product being of twice the width.
struct Magic {
  uint64_t multiplier = 0;
  unsigned shift = 0;
};

// For 0 <= x <= most, d >= 1; none where the multiplier would need more than `width` bits.
std::optional<Magic> unsignedMagic(unsigned width, uint64_t d, uint64_t most);

// The multiplier of width + 1 bits, less its top bit, which always exists: with t the upper half of the product,
// x / d = (((x - t) >> 1) + t) >> (shift - 1), and shift >= 1. For d that is not a power of two.
Magic wideMagic(unsigned width, uint64_t d);

// For -2^(width-1) <= x < 2^(width-1), 2 <= d < 2^(width-1): the quotient is the product shifted arithmetically,
// plus 1 where x is negative. The multiplier is taken as signed: where its top bit is set, x is added to the upper
// half of the signed product.
Magic signedMagic(unsigned width, uint64_t d);

}  // namespace ptxopt::division
