#include "ptxas/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ptxas/time_comparison.h"

namespace ptxopt::ptxas {
namespace {

// By so much the body for all other launches of a kernel of two may cost more: the test that chooses one (pass version-kernels).
constexpr double kSameBeside = 0.02;
// A body for launches of a profile is better, though some loop of it is not, if the whole costs this part at most.
constexpr double kMuchLess = 0.9;
constexpr std::array kByWarps{Measure::Spills, Measure::Warps, Measure::Instructions};

}  // namespace

Comparison compareNotes(const FunctionMeasures& before, const FunctionMeasures& after) {
  if (!before.notes || !after.notes) return {};
  const std::vector<Note> added = newNotes(before, after), gone = newNotes(after, before);
  if (added.empty() && gone.empty()) return {};
  const Note& note = added.empty() ? gone.front() : added.front();
  return {added.empty() ? -1 : 1, Measure::Notes, before.notes->size(), after.notes->size(),
          fmt::format("{} {} ({})", added.empty() ? "no" : "new", note.id, note.brief())};
}

Comparison compare(const FunctionMeasures& before, const FunctionMeasures& after, std::span<const Measure> order) {
  for (const Measure m : order) {
    if (m == Measure::Notes) {
      if (Comparison notes = compareNotes(before, after); notes.sign != 0) return notes;
      continue;
    }
    const auto a = value(before, m), b = value(after, m);
    if (!a || !b || *a == *b) continue;
    return {(*a < *b) == isMoreBetter(m) ? -1 : 1, m, *a, *b, {}};
  }
  return {};
}

namespace {

Comparison compareIssued(const ModelledTime& before, const ModelledTime& after) {
  const double a = before.work.instructions, b = after.work.instructions;
  const int sign = isLonger(a, b) - isLonger(b, a);
  return {sign, Measure::Instructions, wholeNumber(a), wholeNumber(b),
          fmt::format("executed {:.0f} -> {:.0f}", a, b)};
}

}  // namespace

std::string Comparison::text() const { return detail.empty() ? fmt::format("{} -> {}", before, after) : detail; }

namespace {

// A kernel whose launches were given a body of their own: which of both does all that there was, and which is the new one.
struct Bodies {
  const ModelledTime *general = nullptr, *special = nullptr;
};

std::optional<Bodies> bodiesOf(const FunctionMeasures& before, const FunctionMeasures& after) {
  if (!before.time || !after.time || before.time->model != after.time->model) return std::nullopt;
  if (!before.time->versions.empty() || after.time->versions.size() != 2) return std::nullopt;
  std::optional<Bodies> bodies;
  double best = 0;
  for (std::size_t v = 0; v < 2; ++v) {
    const ModelledTime &general = after.time->versions[v], &special = after.time->versions[1 - v];
    const TimeComparison times(*before.time, general, before.stack == after.stack);
    if (!times.wholeIsSame()) continue;
    // The general one is that which costs what there was.
    const double distance = std::abs(times.ratio() - 1);
    if (bodies && distance >= best) continue;
    bodies = {&general, &special};
    best = distance;
  }
  return bodies;
}

std::optional<TimeComparison> timesOf(const FunctionMeasures& before, const FunctionMeasures& after) {
  if (!before.time || !after.time || before.time->model != after.time->model) return std::nullopt;
  const auto bodies = bodiesOf(before, after);
  return TimeComparison(*before.time, bodies ? *bodies->special : *after.time, before.stack == after.stack);
}

// Whether launches that the special body is not for lose more than the test may cost them.
bool isLongerBeside(const ModelledTime& before, const ModelledTime& general) {
  for (std::size_t s = 0; s < kScenarioNames.size(); ++s)
    if (isLonger(before.whole[s], general.whole[s], kSameBeside) ||
        isLonger(before.alone[s], general.alone[s], kSameBeside))
      return true;
  return false;
}

// By the body that the launches of a profile run, unless others lose by it.
Comparison compareBodies(const FunctionMeasures& before, const Bodies& bodies, bool isSameFrame) {
  if (isLongerBeside(*before.time, *bodies.general)) {
    Comparison other = TimeComparison(*before.time, *bodies.general, isSameFrame).compare();
    if (other.sign > 0) {
      other.detail += ", in launches beside the profile";
      return other;
    }
  }
  const TimeComparison times(*before.time, *bodies.special, isSameFrame);
  Comparison special = times.compare();
  if (special.sign > 0 && special.by == Measure::Cycles) {
    // A loop that costs a little more does not matter where the whole costs much less, wherever data lies.
    const ModelledTime::Cycles ratios = times.ratios();
    if (std::ranges::all_of(ratios, [](double r) { return r <= kMuchLess; })) {
      const double a = before.time->whole[0];
      return {-1, Measure::Cycles, wholeNumber(a), wholeNumber(a * ratios[0]),
              fmt::format("{} {:.0f} -> {:.0f}, for the same work", kScenarioNames[0], a, a * ratios[0])};
    }
  }
  if (special.sign != 0) return special;
  return {1, Measure::Cycles, wholeNumber(before.time->whole[0]), wholeNumber(bodies.special->whole[0]),
          "a body for the launches of a profile costs what there was"};
}

}  // namespace

std::optional<timing::WorkMatch> workMatchOf(const FunctionMeasures& before, const FunctionMeasures& after) {
  const auto times = timesOf(before, after);
  return times ? std::optional(times->match()) : std::nullopt;
}

std::optional<uint64_t> cyclesForWorkOf(const FunctionMeasures& before, const FunctionMeasures& after) {
  const auto times = timesOf(before, after);
  if (!times) return std::nullopt;
  if (times->wholeIsSame()) return meanCycles(times->after());
  return wholeNumber(static_cast<double>(*value(before, Measure::Cycles)) * times->ratio());
}

std::optional<ModelledTime::Cycles> scenariosForWorkOf(const FunctionMeasures& before,
                                                       const FunctionMeasures& after) {
  const auto times = timesOf(before, after);
  if (!times) return std::nullopt;
  if (times->wholeIsSame()) return times->after().whole;
  ModelledTime::Cycles cycles = times->ratios();
  for (std::size_t s = 0; s < cycles.size(); ++s) cycles[s] *= before.time->whole[s];
  return cycles;
}

std::optional<uint64_t> valueAfter(const FunctionMeasures& before, const FunctionMeasures& after, Measure m) {
  if (m == Measure::Cycles) return cyclesForWorkOf(before, after);
  if (m != Measure::Code) return value(after, m);
  return before.code.empty() || after.code.empty() ? std::nullopt
                                                   : std::optional<uint64_t>(before.code != after.code);
}

namespace {

Comparison compareFigures(const FunctionMeasures& before, const FunctionMeasures& after, GuardRule rule) {
  constexpr std::array kSpills{Measure::Spills};
  if (const Comparison spills = compare(before, after, kSpills); spills.sign != 0) return spills;
  if (const auto bodies = bodiesOf(before, after); bodies && rule == GuardRule::Time)
    return compareBodies(before, *bodies, before.stack == after.stack);
  if (const auto times = timesOf(before, after); times && rule == GuardRule::Time) {
    if (Comparison time = times->compare(); time.sign != 0) return time;
    constexpr std::array kWarps{Measure::Warps};
    if (const Comparison warps = compare(before, after, kWarps); warps.sign != 0) return warps;
    if (times->wholeIsSame())
      if (Comparison issued = compareIssued(*before.time, *after.time); issued.sign != 0) return issued;
  }
  return compare(before, after, kByWarps);
}

// The most threads of a block that the registers allow, as far as launches may have so many: each quarter of an SM has 512 for each
// lane, and a warp takes them by eights.
uint32_t threadsThatFit(const FunctionMeasures& f) {
  constexpr uint32_t kRegistersOfPart = 512, kUnit = 8, kThreadsOfParts = 128, kMostThreads = 1024;
  const uint32_t taken = (std::max(f.registers, 1u) + kUnit - 1) / kUnit * kUnit;
  return std::min(f.threads != 0 ? f.threads : kMostThreads, kRegistersOfPart / taken * kThreadsOfParts);
}

// A launch with so many threads would fail.
Comparison compareBlocks(const FunctionMeasures& before, const FunctionMeasures& after) {
  const uint32_t threads = threadsThatFit(before);
  if (!before.isKernel || threadsThatFit(after) >= threads) return {};
  return {1, Measure::Registers, before.registers, after.registers,
          fmt::format("{} -> {}: blocks of {} threads no longer fit", before.registers, after.registers, threads)};
}

}  // namespace

Comparison compare(const FunctionMeasures& before, const FunctionMeasures& after, GuardRule rule) {
  if (Comparison blocks = compareBlocks(before, after); blocks.sign > 0) return blocks;
  Comparison notes = compareNotes(before, after);
  if (notes.sign > 0) return notes;
  Comparison figures = compareFigures(before, after, rule);
  return figures.sign != 0 ? figures : notes;
}

}  // namespace ptxopt::ptxas
