// Comments in PTX that say facts: `//ptxopt:facts {...}`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ptxopt::facts {

constexpr std::string_view kFactsComment = "//ptxopt:facts";

// Where such comments begin, in their order. The word ends with a blank, a brace or the line; what stands in a string, in a
// block comment or after another `//` is none. `text` begins outside of all of them. Linear; next to nothing where the word
// does not occur.
std::vector<std::size_t> factsComments(std::string_view text);

// The text with plain comments in their place.
std::string withoutFactsComments(std::string_view text);

}  // namespace ptxopt::facts
