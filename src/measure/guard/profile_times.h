// Modelled time of kernels by a profile: its iterations of loops and sizes of blocks, and its shares of launches for
// kernels with several bodies. As `ptxopt time --profile` has it.
//
// Cost: ptxas once, for the text with lines; the result is cached.
// Declines, by kernel: a loop whose iterations neither the profile nor the PTX gives.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ptxas/assemble.h"
#include "ptxas/compare.h"

namespace ptxopt::guard {

// By kernel of the text. What ptxas does not take has none.
std::map<std::string, ptxas::ProfiledTime> profiledTimes(std::string_view text, std::string_view profile,
                                                         std::string_view architecture,
                                                         const ptxas::PtxasSettings& settings);

}  // namespace ptxopt::guard
