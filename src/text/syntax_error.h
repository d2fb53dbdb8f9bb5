// How the lexer, the parser and the builder say that the text is not PTX. Thrown inside src/text only; parse()
// catches it.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace ptxopt::text {

struct SyntaxError : std::runtime_error {
  SyntaxError(std::size_t where, const std::string& message) : std::runtime_error(message), offset(where) {}
  std::size_t offset;  // in bytes from the start of the source
};

}  // namespace ptxopt::text
