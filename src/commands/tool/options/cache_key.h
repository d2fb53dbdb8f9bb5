// What compiler caches (ccache, sccache) have to know besides nvcc and its arguments.
#pragma once

#include <string>

#include "wrapper/optimize_input.h"

namespace ptxopt::tool {

// What says how PTX is optimized: $PTXOPT_OPTIONS, $PTXOPT_GUARD, $PTXOPT_GUARD_RULE and $PTXOPT_GUARD_TRIES, as the
// environment and the configuration file set them, and what stands in the files that `options`, which were read from these,
// name, as a digest.
std::string settingsDigest(const wrapper::WrapperOptions& options);

// "ptxopt-" and a digest of these, of this program, and of the ptxas that the user names.
std::string compilerCacheKey();

}  // namespace ptxopt::tool
