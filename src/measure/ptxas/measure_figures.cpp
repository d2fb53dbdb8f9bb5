// The measures, objectives and rules: their names, and the figures of functions.
#include <algorithm>
#include <array>
#include <cmath>

#include "ptxas/compare.h"

namespace ptxopt::ptxas {
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
// The guard's rule by warps first wherever it would find a loss that matters more than the gain.
constexpr std::array kForTime{Measure::Spills, Measure::Cycles, Measure::Instructions, Measure::Registers};
constexpr std::array kForWarps{Measure::Spills, Measure::Warps, Measure::Instructions, Measure::Inner};
constexpr std::array kForSass{Measure::Spills, Measure::Instructions, Measure::Inner, Measure::Registers};
constexpr std::array kForInner{Measure::Spills, Measure::Inner, Measure::Instructions, Measure::Registers};
constexpr std::array kForRegs{Measure::Spills, Measure::Registers, Measure::Instructions, Measure::Inner};

}  // namespace

uint64_t meanCycles(const ModelledTime& time) {
  double product = 1;
  for (const double cycles : time.whole) product *= std::cbrt(std::max(cycles, 1.0));
  return wholeNumber(product);
}

uint32_t mostThreads(const FunctionMeasures& f) {
  constexpr uint32_t kMostThreads = 1024;
  return f.threads != 0 ? f.threads : kMostThreads;
}

uint64_t wholeNumber(double figure) {
  constexpr double kMost = 9e15;
  return static_cast<uint64_t>(std::llround(std::clamp(figure, 0.0, kMost)));
}

std::string_view name(Measure m) { return kInfos[static_cast<std::size_t>(m)].name; }

std::optional<Measure> measureNamed(std::string_view name) {
  for (std::size_t i = 0; i < kMeasures; ++i)
    if (kInfos[i].name == name) return static_cast<Measure>(i);
  return std::nullopt;
}

bool isMoreBetter(Measure m) { return kInfos[static_cast<std::size_t>(m)].moreIsBetter; }

std::optional<uint64_t> value(const FunctionMeasures& f, Measure m) {
  // Messages give only the frame and the spills of a function that ptxas put into the section of its caller.
  const bool hasCode = f.isKernel || f.instructions != 0;
  switch (m) {
    case Measure::Notes: return f.notes ? std::optional<uint64_t>(f.notes->size()) : std::nullopt;
    case Measure::Spills:
      if (!f.spillStores || !f.spillLoads) return std::nullopt;
      return *f.spillStores + *f.spillLoads;
    case Measure::Warps: return f.isKernel ? std::optional<uint64_t>(f.warps) : std::nullopt;
    case Measure::Instructions: return hasCode ? std::optional<uint64_t>(f.instructions) : std::nullopt;
    case Measure::Inner: return hasCode ? std::optional<uint64_t>(f.inner) : std::nullopt;
    case Measure::Cycles: return f.time ? std::optional<uint64_t>(meanCycles(*f.time)) : std::nullopt;
    case Measure::Registers: return hasCode ? std::optional<uint64_t>(f.registers) : std::nullopt;
    case Measure::Stack: return f.stack;
    case Measure::Block: return f.isKernel ? std::optional<uint64_t>(mostThreads(f)) : std::nullopt;
    case Measure::CompileTime: return f.compileTime;
    case Measure::Code: return f.code.empty() ? std::nullopt : std::optional<uint64_t>(0);
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

std::string_view name(GuardRule rule) { return kRules[static_cast<std::size_t>(rule)]; }

std::optional<GuardRule> guardRuleNamed(std::string_view name) {
  for (std::size_t i = 0; i < kRules.size(); ++i)
    if (kRules[i] == name) return static_cast<GuardRule>(i);
  return std::nullopt;
}

}  // namespace ptxopt::ptxas
