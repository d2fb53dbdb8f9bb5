// How often loops iterate, from counts of a run in the interpreter (`ptxopt run --profile=FILE`).
//
// The run counts blocks of the PTX; a loop of machine code is tied to them by the lines of its instructions. Where
// ptxas unrolled a loop, several instructions of it come from one of PTX (copies.h): the iterations are fewer by as
// many. The counts are those of warps, so that both ways of a branch that some threads of a warp take are executed.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "timing/regions.h"

namespace ptxopt::timing {

struct ProfileCounts {
  // function -> first line of a block of PTX -> how often warps came to it
  std::map<std::string, std::map<uint32_t, uint64_t>, std::less<>> blocks;
};

// Nothing, with the reason in `error`, for what is not a profile.
std::optional<ProfileCounts> readProfile(std::string_view json, std::string& error);

// For regionsOf(). `lineAt`: the line of the PTX of what stands at an address, in bytes; 0: not known. A loop that
// the profile does not know iterates once each time. A function that it does not have: kAssumedIterations.
// If several loops were made of one of the PTX, the one with the most copies of its body has the iterations.
IterationsOf profiledIterations(const TimedCode& code, const ProfileCounts& profile, std::string_view function,
                                const std::function<uint32_t(uint64_t)>& lineAt);

// Likewise, of each block of machine code. Nothing for a function that the profile does not have.
CountOf profiledCounts(const TimedCode& code, const ProfileCounts& profile, std::string_view function,
                       const std::function<uint32_t(uint64_t)>& lineAt);

}  // namespace ptxopt::timing
