#include "ptxas/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ptxopt {
namespace {

struct MeasureInfo {
  std::string_view name;
  bool moreIsBetter;
};
constexpr MeasureInfo kInfos[] = {
#define PTXOPT_MEASURE(id, name, moreIsBetter) {name, moreIsBetter},
#include "ptxas/measures.def"
#undef PTXOPT_MEASURE
};
constexpr std::array<std::string_view, 5> kObjectives{"time", "warps", "sass", "inner", "regs"};
constexpr std::array<std::string_view, 2> kRules{"time", "warps"};
constexpr std::array<std::string_view, 3> kScenarioNames{"L1", "L2", "DRAM"};
constexpr double kSameTime = 0.005;  // of the cycles: less says nothing
constexpr std::array kByWarps{Measure::Spills, Measure::Warps, Measure::Instructions};

// The guard's rule by warps first wherever it would find a loss that matters more than the gain.
constexpr std::array kForTime{Measure::Spills, Measure::Cycles, Measure::Instructions, Measure::Registers};
constexpr std::array kForWarps{Measure::Spills, Measure::Warps, Measure::Instructions, Measure::Inner};
constexpr std::array kForSass{Measure::Spills, Measure::Instructions, Measure::Inner, Measure::Registers};
constexpr std::array kForInner{Measure::Spills, Measure::Inner, Measure::Instructions, Measure::Registers};
constexpr std::array kForRegs{Measure::Spills, Measure::Registers, Measure::Instructions, Measure::Inner};

// The geometric mean over where data may lie.
uint64_t meanCycles(const ModelledTime& time) {
  double product = 1;
  for (const double cycles : time.whole) product *= std::max(cycles, 1.0);
  return static_cast<uint64_t>(std::llround(std::cbrt(product)));
}

}  // namespace

std::string_view name(Measure m) { return kInfos[static_cast<std::size_t>(m)].name; }

std::optional<Measure> measureNamed(std::string_view name) {
  for (std::size_t i = 0; i < kMeasures; ++i)
    if (kInfos[i].name == name) return static_cast<Measure>(i);
  return std::nullopt;
}

bool isMoreBetter(Measure m) { return kInfos[static_cast<std::size_t>(m)].moreIsBetter; }

std::optional<uint64_t> value(const FunctionMeasures& f, Measure m) {
  // Of a function that ptxas put into the section of its caller, messages tell the frame and the spills only.
  const bool hasCode = f.isKernel || f.instructions != 0;
  switch (m) {
    case Measure::Spills:
      if (!f.spillStores || !f.spillLoads) return std::nullopt;
      return *f.spillStores + *f.spillLoads;
    case Measure::Warps: return f.isKernel ? std::optional<uint64_t>(f.warps) : std::nullopt;
    case Measure::Instructions: return hasCode ? std::optional<uint64_t>(f.instructions) : std::nullopt;
    case Measure::Inner: return hasCode ? std::optional<uint64_t>(f.inner) : std::nullopt;
    case Measure::Cycles: return f.time ? std::optional<uint64_t>(meanCycles(*f.time)) : std::nullopt;
    case Measure::Registers: return hasCode ? std::optional<uint64_t>(f.registers) : std::nullopt;
    case Measure::Stack: return f.stack;
  }
  return std::nullopt;
}

std::span<const Measure> orderOf(Objective o) {
  switch (o) {
    case Objective::Time: return kForTime;
    case Objective::Warps: return kForWarps;
    case Objective::Sass: return kForSass;
    case Objective::Inner: return kForInner;
    case Objective::Regs: return kForRegs;
  }
  return kForWarps;
}

std::string_view name(Objective o) { return kObjectives[static_cast<std::size_t>(o)]; }

std::optional<Objective> objectiveNamed(std::string_view name) {
  for (std::size_t i = 0; i < kObjectives.size(); ++i)
    if (kObjectives[i] == name) return static_cast<Objective>(i);
  return std::nullopt;
}

Comparison compare(const FunctionMeasures& before, const FunctionMeasures& after, std::span<const Measure> order) {
  for (const Measure m : order) {
    const auto a = value(before, m), b = value(after, m);
    if (!a || !b || *a == *b) continue;
    return {(*a < *b) == isMoreBetter(m) ? -1 : 1, m, *a, *b, {}};
  }
  return {};
}

namespace {

bool isLonger(double a, double b) { return b > a * (1 + kSameTime); }

Comparison compareIssued(const ModelledTime& before, const ModelledTime& after) {
  const double a = before.issued, b = after.issued;
  const int sign = isLonger(a, b) - isLonger(b, a);
  return {sign, Measure::Instructions, static_cast<uint64_t>(std::llround(a)),
          static_cast<uint64_t>(std::llround(b)), fmt::format("executed {:.0f} -> {:.0f}", a, b)};
}

Comparison compareTimes(const ModelledTime& before, const ModelledTime& after) {
  const auto found = [](int sign, double a, double b, std::string detail) {
    return Comparison{sign, Measure::Cycles, static_cast<uint64_t>(std::llround(a)),
                      static_cast<uint64_t>(std::llround(b)), std::move(detail)};
  };
  if (before.inner.size() == after.inner.size())
    for (std::size_t l = 0; l < before.inner.size(); ++l)
      for (std::size_t s = 0; s < kScenarioNames.size(); ++s)
        if (const double a = before.inner[l][s], b = after.inner[l][s]; isLonger(a, b))
          return found(1, a, b,
                       fmt::format("{} {:.2f} -> {:.2f} in innermost loop {}", kScenarioNames[s], a, b, l + 1));
  Comparison result;
  for (std::size_t s = 0; s < kScenarioNames.size(); ++s) {
    const double a = before.whole[s], b = after.whole[s];
    const auto detail = [&] { return fmt::format("{} {:.0f} -> {:.0f}", kScenarioNames[s], a, b); };
    if (isLonger(a, b)) return found(1, a, b, detail());
    if (result.sign == 0 && isLonger(b, a)) result = found(-1, a, b, detail());
  }
  return result;
}

}  // namespace

std::string Comparison::text() const { return detail.empty() ? fmt::format("{} -> {}", before, after) : detail; }

std::string_view name(GuardRule rule) { return kRules[static_cast<std::size_t>(rule)]; }

std::optional<GuardRule> guardRuleNamed(std::string_view name) {
  for (std::size_t i = 0; i < kRules.size(); ++i)
    if (kRules[i] == name) return static_cast<GuardRule>(i);
  return std::nullopt;
}

Comparison compare(const FunctionMeasures& before, const FunctionMeasures& after, GuardRule rule) {
  constexpr std::array kSpills{Measure::Spills};
  if (const Comparison spills = compare(before, after, kSpills); spills.sign != 0) return spills;
  if (rule == GuardRule::Time && before.time && after.time && before.time->model == after.time->model) {
    if (Comparison time = compareTimes(*before.time, *after.time); time.sign != 0) return time;
    constexpr std::array kWarps{Measure::Warps};
    if (const Comparison warps = compare(before, after, kWarps); warps.sign != 0) return warps;
    if (Comparison issued = compareIssued(*before.time, *after.time); issued.sign != 0) return issued;
  }
  return compare(before, after, kByWarps);
}

}  // namespace ptxopt
