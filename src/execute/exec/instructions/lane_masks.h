// Masks to lanes and lanes to masks, in loops that the compiler vectorizes.
//
// A shift by the number of the lane has no SSE2 form; a table of the lanes' bits does: a lane tests its bit, or
// contributes it to an or-reduction.
#pragma once

#include <array>
#include <bit>

#include "exec/op.h"

namespace ptxopt::exec {

inline constexpr std::array<Mask, kLanes> kLaneBit = [] {
  std::array<Mask, kLanes> bits{};
  for (unsigned i = 0; i < kLanes; ++i) bits[i] = Mask{1} << i;
  return bits;
}();

// The active lanes for which f(lane) returns true. f may also store to its lane.
template <typename F>
inline Mask collectVectorized(Mask active, F&& f) {
  Mask result = 0;
  if (active == kAllLanes) {
#pragma GCC ivdep
    for (unsigned i = 0; i < kLanes; ++i) result |= f(i) ? kLaneBit[i] : Mask{0};
    return result;
  }
  for (; active != 0; active &= active - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(active));
    result |= f(i) ? kLaneBit[i] : Mask{0};
  }
  return result;
}

}  // namespace ptxopt::exec
