// PTX add, sub, mul and fma on f16 and bf16 (Format is F16 or Bf16), which round to nearest even, with .ftz, .sat,
// .relu.
//
// Done in f64: a product is exact there, a sum is rounded to odd, and one narrowing rounds (half.h). bf16 has
// neither .ftz nor .sat in PTX; the functions take them all the same. Not here: fma.oob.
#pragma once

#include <cstdint>

#include "exec/value/float_format.h"
#include "exec/value/float_nearest.h"
#include "exec/value/half.h"

namespace ptxopt::exec {

// .relu: a negative result, -0 too, becomes +0; NaN stays. .sat: into [0, 1]; NaN and -0 become +0.
struct HalfMode {
  bool ftz = false;
  bool sat = false;
  bool relu = false;
};

namespace detail {

template <class Format>
inline double halfInput(uint16_t x, HalfMode mode) {
  return static_cast<double>(widen<Format>(mode.ftz ? Format::flush(x) : x));
}

template <class Format>
inline uint16_t halfOutput(double x, HalfMode mode) {
  constexpr auto kOne = static_cast<uint16_t>((1 - Format::kLeastExponent) << Format::kMantissaBits);
  uint16_t r = roundToNearest<Format>(x);
  if (mode.ftz) r = Format::flush(r);
  if (mode.relu) r = r > Format::kSign + Format::kInfinity || !Format::isNegative(r) ? r : uint16_t{0};
  if (mode.sat) r = r > Format::kInfinity ? uint16_t{0} : r < kOne ? r : kOne;  // NaN and negative: above infinity
  return r;
}

}  // namespace detail

template <class Format>
inline uint16_t addHalf(uint16_t a, uint16_t b, HalfMode mode) {
  return detail::halfOutput<Format>(
      addToOdd(detail::halfInput<Format>(a, mode), detail::halfInput<Format>(b, mode)), mode);
}

template <class Format>
inline uint16_t subHalf(uint16_t a, uint16_t b, HalfMode mode) {
  return detail::halfOutput<Format>(
      addToOdd(detail::halfInput<Format>(a, mode), -detail::halfInput<Format>(b, mode)), mode);
}

template <class Format>
inline uint16_t mulHalf(uint16_t a, uint16_t b, HalfMode mode) {
  return detail::halfOutput<Format>(detail::halfInput<Format>(a, mode) * detail::halfInput<Format>(b, mode), mode);
}

template <class Format>
inline uint16_t fmaHalf(uint16_t a, uint16_t b, uint16_t c, HalfMode mode) {
  const double product = detail::halfInput<Format>(a, mode) * detail::halfInput<Format>(b, mode);
  return detail::halfOutput<Format>(addToOdd(product, detail::halfInput<Format>(c, mode)), mode);
}

}  // namespace ptxopt::exec
