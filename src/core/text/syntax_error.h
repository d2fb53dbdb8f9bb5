// How the lexer, the parser and the builder say that the text is not PTX. Thrown inside src/core/text only; parse()
// catches it.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace ptxopt::text {

struct SyntaxError : std::runtime_error {
  SyntaxError(std::size_t where, const std::string& message)
      : std::runtime_error(shorten(message)), offset(where) {}
  std::size_t offset;  // in bytes from the start of the source

 private:
  // A message may quote a name of a hundred million bytes.
  static std::string shorten(const std::string& message) {
    constexpr std::size_t kMost = 300, kHead = 120, kTail = 60;
    if (message.size() <= kMost) return message;
    return message.substr(0, kHead) + "..." + message.substr(message.size() - kTail);
  }
};

}  // namespace ptxopt::text
