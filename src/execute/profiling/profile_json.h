// What `run --profile=FILE` writes: the counts of a profile. Apart from the profile, as the interpreter needs no JSON.
#pragma once

#include <string>

#include "exec/profile.h"

namespace ptxopt::profiling {

// Opcodes from the most executed to the least; blocks in the order of the text.
std::string toJson(const exec::Profile& profile);

}  // namespace ptxopt::profiling
