#include <charconv>

#include "target/machine.h"

namespace ptxopt::target {
namespace {

constexpr std::string_view kKindIds[] = {
#define TARGET_KIND(name, text) #name,
#include "target/kinds.def"
};
constexpr std::string_view kUnitIds[] = {
#define TARGET_UNIT(name, text, shared) #name,
#include "target/units.def"
};
constexpr std::string_view kScenarioIds[] = {"L1", "L2", "Dram"};

template <typename Enum, std::size_t N>
bool find(const std::string_view (&ids)[N], std::string_view id, Enum& found) {
  for (std::size_t n = 0; n < N; ++n)
    if (ids[n] == id) return found = static_cast<Enum>(n), true;
  return false;
}

// What stands before the first `separator`, which goes too.
std::string_view takeUntil(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

}  // namespace

std::optional<Scaling> scalingFrom(std::string_view text) {
  Scaling scaling;
  std::string_view name = takeUntil(text, '=');
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scaling.factor);
  if (error != std::errc() || end != text.data() + text.size() || !(scaling.factor > 0)) return std::nullopt;
  const std::string_view figure = takeUntil(name, ':');
  bool isKnown = false;
  if (figure == "use") {
    scaling.figure = Scaling::Figure::Use;
    isKnown = find(kKindIds, takeUntil(name, ':'), scaling.kind) && find(kUnitIds, name, scaling.unit);
  } else if (figure == "latency") {
    scaling.figure = Scaling::Figure::Latency;
    isKnown = find(kKindIds, name, scaling.kind);
  } else if (figure == "memory-latency" || figure == "memory-bytes") {
    scaling.figure = figure == "memory-latency" ? Scaling::Figure::MemoryLatency : Scaling::Figure::MemoryBytes;
    isKnown = find(kScenarioIds, name, scaling.scenario);
  }
  return isKnown ? std::optional(scaling) : std::nullopt;
}

}  // namespace ptxopt::target
