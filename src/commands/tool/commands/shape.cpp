#include "tool/commands/shape.h"

#include <fmt/format.h>

#include <charconv>

namespace ptxopt::tool {

std::optional<exec::Dim3> parseShape(std::string_view text) {
  uint32_t values[3] = {1, 1, 1};
  const char *at = text.data(), *const end = at + text.size();
  for (uint32_t& value : values) {
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value == 0) return std::nullopt;
    if (next == end) return exec::Dim3{values[0], values[1], values[2]};
    if (*next != ',') return std::nullopt;
    at = next + 1;
  }
  return std::nullopt;
}

std::string shapeError(std::string_view option, std::string_view text) {
  return fmt::format("{}: '{}' is not X, X,Y or X,Y,Z, each at least 1", option, text);
}

}  // namespace ptxopt::tool
