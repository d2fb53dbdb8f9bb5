// Taking what the guard's run of ptxas made for what the call is to make, so that the same text is not assembled twice.
//
// The guard asks for -v in addition. That stands in the cubin's notes of how it was made, and ptxas says more: both are left
// out for who did not ask for it (ptxas/plain_cubin.h). Where a line may be of either kind nothing is taken, nor where
// ptxas wrote to both streams, whose order is not known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptxas/assemble.h"

namespace ptxopt::wrapper {

// Without the lines that -v brings. Nothing where that is not known.
std::optional<std::string> withoutVerbose(std::string_view text);

// What the streams of the call get, or nothing where the output does not do. `isVerbose`: the call has -v.
std::optional<ptxas::PtxasOutput> asCalled(const ptxas::PtxasOutput& made, bool isVerbose);

// Where ptxas puts its cubin, if that can be written as it would: a file in a folder that is there. Empty: elsewhere.
std::string placeOfCubin(const std::vector<std::string>& outputs);

}  // namespace ptxopt::wrapper
