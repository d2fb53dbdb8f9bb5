// A text in a form that known faults of a release do not hit, where one is known.
//
// Rows of a trigger whose pattern is `isAvoidable` (bad_patterns.h), for the release and the architecture: `exit` is put after a
// `trap` that a label follows, and the operands of a `max.s32` or `min.s32` whose second one is negated change places. Both mean the
// same as before. Lines keep their numbers, and all else its text. docs/known-bad.md says why the other rows are left.
// Declines: an instruction with a comment in it. Cost: as of triggersIn (known_bad.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptxas/known_bad.h"

namespace ptxopt::ptxas {

struct Avoided {
  std::string text;
  std::vector<KnownBadHit> hits;  // of the text as given, which this one has no longer
};
// None where nothing is to be done.
std::optional<Avoided> avoidKnownBad(std::string_view text, const Release& release, std::string_view architecture);
// Whether some release may have such a fault of the text: otherwise no ptxas has to be asked for its release.
bool mayBeAvoided(std::string_view text);

}  // namespace ptxopt::ptxas
