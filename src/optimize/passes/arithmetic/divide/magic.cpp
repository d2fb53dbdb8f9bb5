#include "passes/arithmetic/divide/magic.h"

#include <bit>

#include "support/int128.h"

namespace ptxopt::division {
namespace {

UInt128 power(unsigned n) { return UInt128{1} << n; }

// The multiplier for a number of bits that are dropped, which may be one bit too wide.
struct Found {
  UInt128 multiplier;
  bool holds;
};
Found tryBits(unsigned bits, uint64_t d, uint64_t worst) {
  const UInt128 multiplier = power(bits) / d + 1;
  const UInt128 error = d - power(bits) % d;  // multiplier * d - 2^bits
  return {multiplier, error * worst < power(bits)};
}

}  // namespace

std::optional<Magic> unsignedMagic(unsigned width, uint64_t d, uint64_t most) {
  if (most < d - 1) return Magic{};  // always 0
  const uint64_t worst = most - (most - (d - 1)) % d;
  for (unsigned shift = 0; shift < width; ++shift) {
    const Found found = tryBits(width + shift, d, worst);
    if (found.multiplier >= power(width)) return std::nullopt;
    if (found.holds) return Magic{static_cast<uint64_t>(found.multiplier), shift};
  }
  return std::nullopt;
}

Magic wideMagic(unsigned width, uint64_t d) {
  const auto shift = static_cast<unsigned>(std::bit_width(d - 1));
  // 2^(width + shift) may be 2^128: computed from its half, whose quotient has the bit that is dropped.
  const UInt128 half = power(width + shift - 1);
  const UInt128 quotient = half / d, rest = half % d;
  const UInt128 multiplier = 2 * quotient + (2 * rest >= d ? 1 : 0) + 1;
  return {static_cast<uint64_t>(multiplier - power(width)), shift};
}

Magic signedMagic(unsigned width, uint64_t d) {
  const UInt128 least = power(width - 1);
  const auto worst = static_cast<uint64_t>(least - 1 - least % d);
  for (unsigned shift = 0;; ++shift)
    if (const Found found = tryBits(width + shift, d, worst); found.holds)
      return {static_cast<uint64_t>(found.multiplier), shift};
}

}  // namespace ptxopt::division
