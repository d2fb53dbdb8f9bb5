#include "analysis/machine/target_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace ptxopt {
namespace {

// Those that the PTX ISA has had since 20 was the first.
constexpr uint32_t kTargets[] = {20, 30, 32, 35, 37, 50, 52,  53,  60,  61,  62,  70,  72, 75,
                                 80, 86, 87, 88, 89, 90, 100, 101, 103, 107, 110, 120, 121};
constexpr uint32_t kFirstWithFeatures = 90, kFirstWithFamily = 100;  // sm_90a, sm_100f

}  // namespace

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

std::string whyNoTarget(std::string_view target) {
  const std::optional<uint32_t> number = target.starts_with("sm_") ? targetNumber(target) : std::nullopt;
  if (!number || target[3] < '0' || target[3] > '9')
    return fmt::format("'{}' is not an architecture; they are spelled sm_90 or sm_90a", target);
  const bool isAcross = target.ends_with('f'), isOne = isAcross || target.ends_with('a');
  if (std::ranges::find(kTargets, *number) != std::end(kTargets) &&
      (!isOne || *number >= (isAcross ? kFirstWithFamily : kFirstWithFeatures)))
    return {};
  return fmt::format(
      "'{}' is not an architecture that ptxopt knows; it knows sm_{}, and from sm_{} on those with an a, "
      "from sm_{} on those with an f",
      target, fmt::join(kTargets, ", sm_"), kFirstWithFeatures, kFirstWithFamily);
}

}  // namespace ptxopt
