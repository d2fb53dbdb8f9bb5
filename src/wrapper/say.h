// What the wrappers say themselves, on standard error.
#pragma once

#include <string_view>

namespace ptxopt {

// Ends each reason for which an input is given to ptxas as it is.
inline constexpr const char* kNotOptimized = "; the PTX is left as it is";

// "ptxopt: TEXT", as one write.
void say(std::string_view text);

}  // namespace ptxopt
