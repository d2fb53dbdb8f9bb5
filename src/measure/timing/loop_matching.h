// Which loops of one version of a kernel do what a loop of another version does.
//
// A pass, or ptxas, makes of one loop a main loop of several copies, and others of fewer for the rounds that are left. By what
// they write, compute and read (work.h) a run of loops after is matched with each loop before, in the order of the code: the
// first does r rounds of the loop before at once, the next ones fewer and fewer, the last one 1.
// Invariants: all that tells of the work agrees, and r is a whole number; every loop of both is matched, or none is.
// Where that does not succeed, the loops after may be versions of those before, of which a check chooses one: for what it computes
// in floating point (writes, where it computes nothing), a version writes and reads no more. How often each is executed is not known;
// so nothing is worse if none of them costs more, for the same work, than anything before that it may be a version of.
// Cost: linear; of versions the product of the numbers of loops.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "timing/work.h"

namespace ptxopt::timing {

struct LoopShare {
  std::size_t loop = 0;  // after
  double copies = 1;     // of a round before, in one of its rounds
  double rounds =
      0;  // when the first of the run goes round as often as is assumed, and what is left is half of what may be
};

// By loop before; none: not known.
std::optional<std::vector<std::vector<LoopShare>>> matchLoops(std::span<const Work> before,
                                                              std::span<const Work> after, double assumedRounds);

struct VersionOf {
  std::size_t loop = 0;  // before
  double copies = 1;     // of its round, in one of the version
};

// By loop after; none: one is a version of nothing, or of a loop before there is none that can do a single round.
std::optional<std::vector<std::vector<VersionOf>>> findVersions(std::span<const Work> before,
                                                                std::span<const Work> after);

}  // namespace ptxopt::timing
