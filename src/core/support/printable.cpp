#include "support/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace ptxopt {

std::size_t printablePrefix(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<uint8_t>(text.front());
  if (first < 0x80) return first == '\t' || (first >= 0x20 && first != 0x7f) ? 1 : 0;
  const auto bytes = static_cast<std::size_t>(std::countl_one(first));
  if (bytes < 2 || bytes > 4 || text.size() < bytes) return 0;
  uint32_t code = first & (0x7fu >> bytes);
  for (const char c : text.substr(1, bytes - 1)) {
    if ((static_cast<uint8_t>(c) & 0xc0) != 0x80) return 0;
    code = code << 6 | (static_cast<uint8_t>(c) & 0x3f);
  }
  // Below the first are control characters and encodings that are longer than need be.
  constexpr uint32_t kFirst[] = {0xa0, 0x800, 0x10000};
  const bool isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return code >= kFirst[bytes - 2] && code <= 0x10ffff && !isSurrogate ? bytes : 0;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = printablePrefix(text);
    if (bytes == 0)
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(text.front()));
    else
      out += text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(1, bytes));
  }
  return out;
}

}  // namespace ptxopt
