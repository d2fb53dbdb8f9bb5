// A new baseline that takes over what got better, and nothing that got worse.
//
// Each function has the figures of one version: the old ones if any measure that --fail-on names got worse, also within a
// tolerance, since many small losses would add up otherwise; else the new ones. The best of each measure would ask for what no
// version had. Kernels that are gone leave the baseline, unless `missing` is among what fails; new ones join it.
#pragma once

#include <cstddef>

#include "diff/diff.h"

namespace ptxopt::diff {

struct Ratcheted {
  Side side;
  std::size_t tightened = 0;  // functions that got better, and are taken over
  std::size_t kept = 0;       // functions with a worse figure, which keep their old ones
};
Ratcheted ratchet(const Side& old, const Side& now, const FailOn& failOn);

}  // namespace ptxopt::diff
