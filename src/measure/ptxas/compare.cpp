// The order of checks: blocks that no longer fit, new notes, spills, then times or the other rule's measures. A kernel
// with two bodies is compared by the body that its profile's launches run, as long as the others lose little.
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
constexpr std::string_view kBeside = ", in launches beside the profile";
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
    const double distance = std::abs(std::log(times.ratio()));
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

// What launches that the special body is not for lose, if that is more than the test may cost them.
Comparison compareBeside(const ModelledTime& before, const TimeComparison& general) {
  if (!general.isOfWhole()) return {};
  const ModelledTime::Cycles ratios = general.ratios();
  const auto worse = [](std::size_t s, double a, double b, std::string_view words) {
    return Comparison{1, Measure::Cycles, wholeNumber(a), wholeNumber(b),
                      fmt::format("{} {:.0f} -> {:.0f}{}{}", kScenarioNames[s], a, b, words, kBeside)};
  };
  for (std::size_t s = 0; s < kScenarioNames.size(); ++s)
    if (isLonger(1, ratios[s], kSameBeside))
      return worse(s, before.whole[s], before.whole[s] * ratios[s],
                   general.wholeIsSame() ? "" : ", for the same work");
  if (!general.wholeIsSame()) return {};
  for (std::size_t s = 0; s < kScenarioNames.size(); ++s)
    if (isLonger(before.alone[s], general.after().alone[s], kSameBeside))
      return worse(s, before.alone[s], general.after().alone[s], " with few warps");
  return {};
}

// By the body that the launches of a profile run, unless others lose by it: more than other loops or warps gain, or, if it is `strict`, at
// all.
Comparison compareBodies(const FunctionMeasures& before, const Bodies& bodies, bool isSameFrame, bool isStrict) {
  const TimeComparison general(*before.time, *bodies.general, isSameFrame);
  if (Comparison beside = compareBeside(*before.time, general); beside.sign > 0) {
    if (isStrict) return beside;
    Comparison other = general.compare();
    if (other.sign > 0) {
      other.detail += kBeside;
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

Comparison compareFigures(const FunctionMeasures& before, const FunctionMeasures& after, GuardRule rule,
                          bool isStrict) {
  constexpr std::array kSpills{Measure::Spills};
  if (const Comparison spills = compare(before, after, kSpills); spills.sign != 0) return spills;
  if (const auto bodies = bodiesOf(before, after); bodies && rule == GuardRule::Time)
    return compareBodies(before, *bodies, before.stack == after.stack, isStrict);
  if (const auto times = timesOf(before, after); times && rule == GuardRule::Time) {
    if (Comparison time = times->compare(); time.sign > 0) return time;
    if (isStrict)
      if (Comparison beside = compareBeside(*before.time, *times); beside.sign > 0) return beside;
    if (Comparison time = times->compare(); time.sign != 0) return time;
    constexpr std::array kWarps{Measure::Warps};
    if (const Comparison warps = compare(before, after, kWarps); warps.sign != 0) return warps;
    if (times->wholeIsSame())
      if (Comparison issued = compareIssued(*before.time, *after.time); issued.sign != 0) return issued;
  }
  return compare(before, after, kByWarps);
}

// The most threads of a block that the registers allow: each quarter of an SM has 512 for each lane, and a warp takes
// them by eights.
uint32_t threadsByRegisters(const FunctionMeasures& f) {
  constexpr uint32_t kRegistersOfPart = 512, kUnit = 8, kThreadsOfParts = 128;
  const uint32_t taken = (std::max(f.registers, 1u) + kUnit - 1) / kUnit * kUnit;
  return kRegistersOfPart / taken * kThreadsOfParts;
}

// A launch with that many threads would fail.
Comparison compareBlocks(const FunctionMeasures& before, const FunctionMeasures& after) {
  const uint32_t threads = std::min(mostThreads(before), threadsByRegisters(before));
  if (!before.isKernel) return {};
  if (mostThreads(after) < threads)
    return {1, Measure::Block, mostThreads(before), mostThreads(after),
            fmt::format("{} -> {} threads at most: larger blocks can no longer be launched", mostThreads(before),
                        mostThreads(after))};
  if (threadsByRegisters(after) >= threads) return {};
  return {1, Measure::Registers, before.registers, after.registers,
          fmt::format("{} -> {}: blocks of {} threads no longer fit", before.registers, after.registers, threads)};
}

Comparison compareBy(const FunctionMeasures& before, const FunctionMeasures& after, GuardRule rule, bool isStrict) {
  if (Comparison blocks = compareBlocks(before, after); blocks.sign > 0) return blocks;
  Comparison notes = compareNotes(before, after);
  if (notes.sign > 0) return notes;
  Comparison figures = compareFigures(before, after, rule, isStrict);
  return figures.sign != 0 ? figures : notes;
}

}  // namespace

Comparison compare(const FunctionMeasures& before, const FunctionMeasures& after, GuardRule rule) {
  return compareBy(before, after, rule, false);
}

bool ProfiledTimes::areOfSameWork() const {
  constexpr double kSameWork = 0.2;
  const auto isSame = [](double a, double b) { return !isLonger(a, b, kSameWork) && !isLonger(b, a, kSameWork); };
  if (without.computed > 0 || with.computed > 0) return isSame(without.computed, with.computed);
  return isSame(without.written, with.written);
}

namespace {

// Worse where it costs more wherever data may lie, with many warps or with few; better where it costs less in the mean.
Comparison compareByProfile(const ProfiledTimes& times) {
  const auto detail = [&](std::size_t s, double a, double b, std::string_view words) {
    return fmt::format("{} {:.0f} -> {:.0f}{}, by the profile's iterations", kScenarioNames[s], a, b, words);
  };
  const auto by = [&](int sign, std::size_t s, double a, double b, std::string_view words) {
    return Comparison{sign, Measure::Cycles, wholeNumber(a), wholeNumber(b), detail(s, a, b, words)};
  };
  std::size_t best = 0;
  for (std::size_t s = 0; s < kScenarioNames.size(); ++s) {
    const double a = times.without.whole[s], b = times.with.whole[s];
    if (isLonger(a, b)) return by(1, s, a, b, "");
    if (isLonger(times.without.alone[s], times.with.alone[s], kSameBeside))
      return by(1, s, times.without.alone[s], times.with.alone[s], " with few warps");
    if (b * times.without.whole[best] < times.with.whole[best] * a) best = s;
  }
  const double a = times.without.whole[best], b = times.with.whole[best];
  return isLonger(b, a) ? by(-1, best, a, b, "") : Comparison();
}

// What launches beside the profile lose, by its iterations, if that is more than they may.
Comparison compareBesideByProfile(const ProfiledTimes& times) {
  for (const bool isAlone : {false, true})
    for (std::size_t s = 0; s < kScenarioNames.size(); ++s) {
      const double a = (isAlone ? times.without.alone : times.without.whole)[s];
      const double b = (isAlone ? times.with.besideAlone : times.with.beside)[s];
      if (isLonger(a, b, kSameBeside))
        return {1, Measure::Cycles, wholeNumber(a), wholeNumber(b),
                fmt::format("{} {:.0f} -> {:.0f}{}, by the profile's iterations{}", kScenarioNames[s], a, b,
                            isAlone ? " with few warps" : "", kBeside)};
    }
  return {};
}

// Whether the rule speaks against it by cycles alone, and by so few that a launch beside the profile may lose them.
bool isLittleWorse(const FunctionMeasures& without, const FunctionMeasures& with, const Comparison& by) {
  if (by.sign <= 0) return true;
  const auto times = timesOf(without, with);
  if (by.by != Measure::Cycles || !times || !times->wholeIsSame()) return false;
  const auto bodies = bodiesOf(without, with);
  return compareBeside(*without.time, *times).sign == 0 &&
         (!bodies ||
          compareBeside(*without.time, TimeComparison(*without.time, *bodies->general, without.stack == with.stack))
                  .sign == 0);
}

}  // namespace

Comparison compareProfiled(const FunctionMeasures& without, const FunctionMeasures& with, GuardRule rule,
                           const std::optional<ProfiledTimes>& times) {
  Comparison by = compareBy(without, with, rule, true);
  if (!times || rule != GuardRule::Time || !times->areOfSameWork()) return by;
  Comparison byProfile = compareByProfile(*times);
  if (byProfile.sign <= 0)
    if (Comparison beside = compareBesideByProfile(*times); beside.sign > 0) byProfile = std::move(beside);
  if (byProfile.sign > 0) return by.sign > 0 ? by : byProfile;
  return byProfile.sign < 0 && by.sign >= 0 && isLittleWorse(without, with, by) ? byProfile : by;
}

}  // namespace ptxopt::ptxas
