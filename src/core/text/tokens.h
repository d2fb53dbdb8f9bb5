// The tokens of a text without what stands between them: two texts that say the same have the same.
#pragma once

#include <string>
#include <string_view>

namespace ptxopt::text {

// Each followed by a blank. Linear.
std::string tokensOf(std::string_view source);

}  // namespace ptxopt::text
