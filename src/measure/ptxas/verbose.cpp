#include "ptxas/verbose.h"

#include <charconv>

namespace ptxopt::ptxas {
namespace {

// What stands after `key`, up to `end`.
std::optional<std::string_view> between(std::string_view line, std::string_view key, char end) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + key.size());
  return line.substr(0, line.find(end));
}

// The number before `unit`: 20 of "Used 20 registers".
std::optional<uint64_t> numberBefore(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  uint64_t value = 0;
  const auto read = std::from_chars(line.data() + begin, line.data() + at, value);
  if (begin == at || read.ec != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

std::map<std::string, PtxasCounts, std::less<>> readPtxasVerbose(std::string_view text) {
  std::map<std::string, PtxasCounts, std::less<>> counts;
  PtxasCounts* now = nullptr;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (const auto entry = between(line, "Compiling entry function '", '\'')) {
      now = &counts[std::string(*entry)];
    } else if (const auto name = between(line, "Function properties for ", ' ')) {
      now = &counts[std::string(*name)];
    } else if (now != nullptr) {
      const auto set = [&](uint64_t& to, std::string_view unit) {
        if (const auto n = numberBefore(line, unit)) to = *n;
      };
      set(now->stack, " bytes stack frame");
      set(now->spillStores, " bytes spill stores");
      set(now->spillLoads, " bytes spill loads");
      if (const auto n = numberBefore(line, " registers")) now->registers = n;
      set(now->barriers, " barriers");
      set(now->shared, " bytes smem");
    }
  }
  return counts;
}

}  // namespace ptxopt::ptxas
