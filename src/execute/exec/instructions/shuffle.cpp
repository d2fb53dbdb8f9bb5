// shfl: a value of another lane. The lane arithmetic is that of the PTX ISA's pseudocode.
//
// A source lane that does not take part gives an undefined value in PTX; here the reading lane's own.
#include <cstring>

#include "exec/binder.h"
#include "exec/lanes.h"
#include "exec/warp.h"

namespace ptxopt::exec {

namespace {

enum class Mode : uint8_t { Up, Down, Butterfly, Index };

// args: d, p, a, b, c
template <Mode mode>
Step shuffle(Warp& w, const Op& op, Mask active) {
  uint32_t a[kLanes], r[kLanes];
  std::memcpy(a, w.in<uint32_t>(op.args[2]), sizeof a);
  const uint32_t* const b = w.in<uint32_t>(op.args[3]);
  const uint32_t* const c = w.in<uint32_t>(op.args[4]);
  Mask inRange = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint32_t bval = b[lane] & 31, cval = c[lane] & 31, segment = c[lane] >> 8 & 31;
    const uint32_t last = (lane & segment) | (cval & ~segment), first = lane & segment;
    uint32_t j = 0;
    bool ok = false;
    if constexpr (mode == Mode::Up) {
      j = lane - bval;
      ok = static_cast<int32_t>(j) >= static_cast<int32_t>(last);
    } else if constexpr (mode == Mode::Down) {
      j = lane + bval;
      ok = j <= last;
    } else if constexpr (mode == Mode::Butterfly) {
      j = lane ^ bval;
      ok = j <= last;
    } else {
      j = first | (bval & ~segment);
      ok = j <= last;
    }
    if (!ok) j = lane;
    j &= 31;
    if ((active >> j & 1) == 0) j = lane;
    r[lane] = a[j];
    inRange |= static_cast<Mask>(ok) << lane;
  }
  uint32_t* const d = w.out<uint32_t>(op.args[0]);
  forEachLane(active, [&](unsigned i) { d[i] = r[i]; });
  w.setPredicate(op.args[1], inRange, active);
  return Step::Next;
}

}  // namespace

void bindShfl(Binder& b) {
  const bool sync = b.take("sync");
  const std::string_view mode = b.takeOneOf({"up", "down", "bfly", "idx"});
  if (b.takeType() != ScalarType::b32) b.unsupported("a type other than .b32");
  // The value may be in an .f32 register too: one of 32 bits.
  b.pairDest(0, ScalarType::b32);
  b.pairPredicate(0);
  b.source(1, ScalarType::b32);
  b.source(2, ScalarType::b32);
  b.source(3, ScalarType::b32);
  if (sync) {
    b.source(4, ScalarType::b32);
    b.collective(5);
  }
  b.handler(mode == "up"     ? shuffle<Mode::Up>
            : mode == "down" ? shuffle<Mode::Down>
            : mode == "bfly" ? shuffle<Mode::Butterfly>
            : mode == "idx"  ? shuffle<Mode::Index>
                             : nullptr);
}

}  // namespace ptxopt::exec
