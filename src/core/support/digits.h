// Whether a text is a number without a sign.
#pragma once

#include <string_view>

namespace ptxopt {

inline bool isDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace ptxopt
