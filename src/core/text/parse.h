// PTX text to a module.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "ir/module.h"

namespace ptxopt::text {

// Why a text is not PTX, and where.
struct ParseError {
  std::size_t offset = 0;  // in bytes
  SourcePosition position;
  std::string message;
};

// Parses `source`, which must outlive the module. Linear in time; the memory beyond the module does not grow with
// it. `fileName` is kept for messages.
std::variant<std::unique_ptr<Module>, ParseError> parse(std::string_view source, std::string fileName = "<input>");

// `FILE:LINE:COL: error: MESSAGE`, the line, and a caret below the place.
std::string render(const ParseError& error, std::string_view fileName);

}  // namespace ptxopt::text
