#include "ptxas/compare.h"

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
constexpr std::array<std::string_view, 4> kObjectives{"warps", "sass", "inner", "regs"};

// The guard's order first wherever it would find a loss that matters more than the gain.
constexpr std::array kForWarps{Measure::Spills, Measure::Warps, Measure::Instructions, Measure::Inner};
constexpr std::array kForSass{Measure::Spills, Measure::Instructions, Measure::Inner, Measure::Registers};
constexpr std::array kForInner{Measure::Spills, Measure::Inner, Measure::Instructions, Measure::Registers};
constexpr std::array kForRegs{Measure::Spills, Measure::Registers, Measure::Instructions, Measure::Inner};

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
    case Measure::Registers: return hasCode ? std::optional<uint64_t>(f.registers) : std::nullopt;
    case Measure::Stack: return f.stack;
  }
  return std::nullopt;
}

std::span<const Measure> orderOf(Objective o) {
  switch (o) {
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
    return {(*a < *b) == isMoreBetter(m) ? -1 : 1, m, *a, *b};
  }
  return {};
}

}  // namespace ptxopt
