// Integer literals of PTX.
#pragma once

#include <cstdint>
#include <string_view>

namespace ptxopt::text {

// Reads a decimal, octal (017), hexadecimal (0x1f) or binary (0b101) literal with an optional U, or WARP_SZ. False when it has
// more than 64 bits and ptxas refuses it too: ptxas wraps literals a little above 2^64 and refuses the longer ones;
// the limit, measured on 13.0, lies between 2.0e20 and 2.9e20.
bool parseInteger(std::string_view text, uint64_t& value);

}  // namespace ptxopt::text
