// The tables are sorted by number and searched for the newest row that is not newer than the target. Each machine of
// the model of time is made on the first request, once a process.
#include "target/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <mutex>
#include <utility>

#include "target/machine.h"

namespace ptxopt::target {
namespace {

constexpr uint32_t kNames[] = {
#define TARGET_OLD(number) number,
#define TARGET_RENAMED(number, as) number,
#define TARGET(number, ...) number,
#include "target/targets.def"
};
constexpr std::pair<uint32_t, uint32_t> kRenamed[] = {
#define TARGET_RENAMED(number, as) {number, as},
#define TARGET(number, ...)
#include "target/targets.def"
};
constexpr Limits kTargets[] = {
#define TARGET(number, code, figures, warps, blocks, sharedKiB, reserved, sharedUnit, barriers, barriersLimit, \
               sms)                                                                                            \
  {number, code, figures, warps, blocks, (sharedKiB)*1024, reserved, sharedUnit, barriers, barriersLimit, sms},
#include "target/targets.def"
};
constexpr std::pair<uint32_t, uint32_t> kCapabilityRanges[] = {
#define TARGET_CAPABILITY(name, first, last, text) {first, last},
#include "target/capabilities.def"
};
constexpr Costs kCosts[] = {
#define TARGET_COST(name, summary)
#define TARGET_COSTS(number, ...) {number, __VA_ARGS__},
#include "target/costs.def"
};

// The number by which tables are asked: that of the new name of a renamed one.
uint32_t today(uint32_t number) {
  const auto* renamed = std::ranges::find(kRenamed, number, &std::pair<uint32_t, uint32_t>::first);
  return renamed == std::end(kRenamed) ? number : renamed->second;
}

// The last row whose number is at most `number`; the first if there is none.
template <typename Row, std::size_t N>
const Row& newestUpTo(const Row (&rows)[N], uint32_t number) {
  const auto* after = std::ranges::upper_bound(rows, number, {}, &Row::number);
  return after == std::begin(rows) ? rows[0] : after[-1];
}

uint32_t firstWith(Capability c) { return kCapabilityRanges[static_cast<std::size_t>(c)].first; }

}  // namespace

std::optional<uint32_t> numberOf(std::string_view name) {
  const std::size_t at = name.find('_');
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view kind = name.substr(0, at);
  if (kind != "sm" && kind != "compute") return std::nullopt;
  uint32_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + at + 1, end, number);
  if (error != std::errc() || name[at + 1] == '0') return std::nullopt;
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  if (!suffix.empty() && suffix != "a" && suffix != "f") return std::nullopt;
  return number;
}

std::string whyNoTarget(std::string_view name) {
  const std::optional<uint32_t> number = name.starts_with("sm_") ? numberOf(name) : std::nullopt;
  if (!number) return fmt::format("'{}' is not an architecture; they are spelled sm_90 or sm_90a", name);
  const bool isFamily = name.ends_with('f'), isOne = name.ends_with('a');
  const Target target(*number);
  if (std::ranges::find(kNames, *number) != std::end(kNames) && (!isOne || target.has(Capability::FeatureNames)) &&
      (!isFamily || target.has(Capability::FamilyNames)))
    return {};
  return fmt::format(
      "'{}' is not an architecture that ptxopt knows; it knows sm_{}, and from sm_{} on those with an a, "
      "from sm_{} on those with an f",
      name, fmt::join(kNames, ", sm_"), firstWith(Capability::FeatureNames), firstWith(Capability::FamilyNames));
}

// sm_103, sm_103a and sm_103f run code for sm_100f, too: they are of one family.
bool runsOn(std::string_view built, std::string_view machine) {
  if (!numberOf(built) || !numberOf(machine)) return true;
  const uint32_t from = Target(built).number(), on = Target(machine).number();
  if (built.ends_with('a')) return from == on && machine.ends_with('a');
  return from <= on && (!built.ends_with('f') || from / 10 == on / 10);
}

Target::Target(uint32_t number) : number_(today(number)) {
  const Limits& newest = newestUpTo(kTargets, number_);
  encodings_ = newest.code;
  figures_ = newest.figures;
  limits_ = newest.number == number_ ? &newest : nullptr;
  costs_ = &newestUpTo(kCosts, figures_);
}

bool Target::has(Capability c) const {
  const auto [first, last] = kCapabilityRanges[static_cast<std::size_t>(c)];
  return first <= number_ && number_ <= last;
}

const Machine& Target::machine() const {
  struct Once {
    std::once_flag made;
    std::optional<Machine> machine;
  };
  static std::array<Once, std::size(kTargets)> all;
  Once& own = all[static_cast<std::size_t>(&newestUpTo(kTargets, figures_) - kTargets)];
  std::call_once(own.made, [&] { own.machine.emplace(figures_); });
  return *own.machine;
}

std::span<const Limits> targets() { return kTargets; }
std::span<const Costs> costs() { return kCosts; }

}  // namespace ptxopt::target
