// A new baseline that is never laxer than the old one.
//
// Of the measures that --fail-on names, each function keeps the better one of its old and its new figure, also
// where a tolerance lets the new one pass: many small losses would add up otherwise. Everything else is as it is
// now. Kernels that are gone leave the baseline, unless `missing` is among what fails; new ones join it.
#pragma once

#include <cstddef>

#include "diff/diff.h"

namespace ptxopt::diff {

struct Ratcheted {
  Side side;
  std::size_t tightened = 0;  // functions with a better figure than in the old baseline
  std::size_t kept = 0;       // functions with a worse figure, which the baseline does not take over
};
Ratcheted ratchet(const Side& old, const Side& now, const FailOn& failOn);

}  // namespace ptxopt::diff
