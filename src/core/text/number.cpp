#include "text/number.h"

#include "support/int128.h"

namespace ptxopt::text {

bool parseInteger(std::string_view text, uint64_t& value) {
  // Most numbers are short and decimal.
  constexpr std::size_t kShort = 19;
  if (!text.empty() && text.size() <= kShort && (text[0] != '0' || text.size() == 1)) {
    uint64_t v = 0;
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
      const auto digit = static_cast<unsigned>(text[at] - '0');
      if (digit > 9) break;
      v = v * 10 + digit;
    }
    if (at == text.size()) {
      value = v;
      return true;
    }
  }
  if (text == "WARP_SZ") {
    value = 32;
    return true;
  }
  constexpr UInt128 kLimit = static_cast<UInt128>(12) << 64;
  if (text.ends_with('U')) text.remove_suffix(1);
  unsigned base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char second = text[1];
    base = second == 'x' || second == 'X' ? 16 : second == 'b' || second == 'B' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  UInt128 v = 0;
  for (const char c : text) {
    const unsigned digit = c <= '9' ? static_cast<unsigned>(c - '0') : static_cast<unsigned>((c | 0x20) - 'a' + 10);
    if (digit >= base) return false;
    v = v * base + digit;
    if (v >= kLimit) return false;
  }
  value = static_cast<uint64_t>(v);
  return !text.empty();
}

}  // namespace ptxopt::text
