#include "analysis/machine/target_number.h"

#include <charconv>

namespace ptxopt {

std::optional<uint32_t> targetNumber(std::string_view target) {
  const std::size_t at = target.find('_');
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view kind = target.substr(0, at);
  if (kind != "sm" && kind != "compute") return std::nullopt;
  uint32_t number = 0;
  const char* const end = target.data() + target.size();
  const auto [rest, error] = std::from_chars(target.data() + at + 1, end, number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  if (!suffix.empty() && suffix != "a" && suffix != "f") return std::nullopt;
  return number;
}

}  // namespace ptxopt
