// Text of a file, as a terminal may get it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ptxopt {

// How many bytes at the start of `text` are one character of UTF-8 that can be printed, or a tab; 0: there is none.
std::size_t printablePrefix(std::string_view text);

// Bytes that do not belong to such characters become \xNN.
std::string printable(std::string_view text);

}  // namespace ptxopt
