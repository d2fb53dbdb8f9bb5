// What compiler caches (ccache, sccache) have to know besides nvcc and its arguments.
#pragma once

#include <string>

namespace ptxopt::tool {

// What says how PTX is optimized: $PTXOPT_OPTIONS, $PTXOPT_GUARD, $PTXOPT_GUARD_RULE and $PTXOPT_GUARD_TRIES, as the
// environment and the configuration file set them, as a digest.
std::string settingsDigest();

// "ptxopt-" and a digest of these, of this program, and of the ptxas that the user names.
std::string compilerCacheKey();

}  // namespace ptxopt::tool
