// The words of a text that begin with a dot, outside strings and comments: `.weak`, `.b128`. Those of opcodes are not among them.
// Cost: linear.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace ptxopt::text {

struct Word {
  std::string_view text;
  std::size_t offset;
};
std::vector<Word> directivesOf(std::string_view source);

}  // namespace ptxopt::text
