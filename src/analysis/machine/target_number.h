// The number of the architecture that a target names: 90 for `sm_90`, `sm_90a` and `compute_90`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ptxopt {

// None where the text is no such target.
std::optional<uint32_t> targetNumber(std::string_view target);

// Empty where it is an architecture that PTX has a name for, spelled as `sm_90a`; otherwise what is wrong with it.
std::string whyNoTarget(std::string_view target);

}  // namespace ptxopt
