#include "options.h"

#include <charconv>

namespace kernels {
namespace {

constexpr std::array<std::string_view, kFeatures> kNames = {
    "arithmetic",  "floats",      "halves",   "convert",  "predicates", "copies",  "packs",
    "carry",       "wide",        "memory",   "vectors",  "local",      "generic", "branches",
    "switch",      "irreducible", "loops",    "pointers", "guards",     "exits",   "scopes",
    "shared",      "exchange",    "warp",     "atomics",  "calls",      "dead",    "bits",
    "expressions", "kept",        "sections", "tables",   "aggregates", "names"};

bool parseNumber(std::string_view text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= 0;
}

}  // namespace

std::string_view name(Feature feature) { return kNames[static_cast<std::size_t>(feature)]; }

bool parseFeatures(std::string_view list, Options& options, std::string& error) {
  bool plain = false;
  std::array<bool, kFeatures> named{};
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view item = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    const std::size_t equal = item.find('=');
    int percent = 100;
    if (equal == std::string_view::npos) {
      plain = true;
    } else if (!parseNumber(item.substr(equal + 1), percent) || percent > 10000) {
      error = "not a weight: " + std::string(item);
      return false;
    }
    item = item.substr(0, equal);
    std::size_t index = 0;
    while (index < kFeatures && kNames[index] != item) ++index;
    if (index == kFeatures) {
      error = "no such feature: " + std::string(item) + "; there are";
      for (const std::string_view known : kNames) error += " " + std::string(known);
      return false;
    }
    options.weight[index] = percent;
    named[index] = true;
  }
  if (plain) {
    for (std::size_t i = 0; i < kFeatures; ++i)
      if (!named[i] && i != static_cast<std::size_t>(Feature::Arithmetic)) options.weight[i] = 0;
  }
  options.swarm = false;
  return true;
}

int parseArch(std::string_view text) {
  int value = 0;
  if (text.starts_with("sm_")) text.remove_prefix(3);
  return parseNumber(text, value) && value >= 70 ? value : 0;
}

}  // namespace kernels
