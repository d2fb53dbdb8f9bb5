#include "ptxas/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "timing/kernel_time.h"
#include "timing/loop_matching.h"

namespace ptxopt::ptxas {
namespace {

constexpr std::array<std::string_view, 3> kScenarioNames{"L1", "L2", "DRAM"};
constexpr double kSameTime = 0.005;  // of the cycles: less says nothing
constexpr ModelledTime::Cycles kSameTimes{kSameTime, kSameTime, kSameTime};
constexpr double kSameAlone = 0.02;  // with few warps
// A loop may become slower by this part of its cycles, or by two cycles a round and less than a quarter, if the whole gains
// several times as much, with many warps or with few.
constexpr double kSlip = 0.1, kSlipCycles = 2, kMostSlip = 0.25, kGainOfSlip = 3;
constexpr double kLeastRounds = 1;  // of a loop that slips: behind many conditions hardly any are assumed
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

bool isLonger(double a, double b, double same = kSameTime) { return b > a * (1 + same); }

Comparison compareIssued(const ModelledTime& before, const ModelledTime& after) {
  const double a = before.work.instructions, b = after.work.instructions;
  const int sign = isLonger(a, b) - isLonger(b, a);
  return {sign, Measure::Instructions, wholeNumber(a), wholeNumber(b),
          fmt::format("executed {:.0f} -> {:.0f}", a, b)};
}

// What is compared is what both sides do alike (timing/loop_matching.h).
class TimeComparison {
 public:
  TimeComparison(const ModelledTime& before, const ModelledTime& after, bool isSameFrame)
      : before_(before),
        after_(after),
        haveSameLoops_(before.inner.size() == after.inner.size()),
        match_(timing::matchWork(workOf(before), workOf(after), isSameFrame, timing::kAssumedRounds)) {
    if (match_.kind != Kind::Dissolved) return;
    const auto& [isBefore, loop, rounds] = match_.dissolved;
    ModelledTime& time = isBefore ? before_ : after_;
    const double more = rounds - time.inner[loop].rounds;
    for (std::size_t s = 0; s < time.whole.size(); ++s)
      time.whole[s] =
          std::max(time.whole[s] + more * time.inner[loop].cycles[s], rounds * time.inner[loop].cycles[s]);
  }

  // Whether a run of the whole does the same before and after.
  bool wholeIsSame() const { return match_.kind == Kind::Whole; }
  const timing::WorkMatch& match() const { return match_; }

  Comparison compare() const {
    switch (match_.kind) {
      case Kind::Whole: return haveSameLoops_ ? compareLoops() : compareWhole();
      case Kind::Rounds: return compareLoops();
      case Kind::Runs: return compareRuns();
      case Kind::Dissolved: return compareCycles(before_.whole, after_.whole, 1, 0, kSameWork);
      case Kind::Versions:
        if (Comparison better = compareVersions(); better.sign < 0) return better;
        return compareTogether();
      case Kind::Together: return compareTogether();
      case Kind::Unknown: break;
    }
    return {};
  }

  // The cycles of `after` to those of `before`, for the same work: the geometric mean over where data may lie.
  double ratio() const {
    double product = 1;
    for (const double r : ratios()) product *= std::cbrt(r);
    return product;
  }

  // ... and for each of these.
  ModelledTime::Cycles ratios() const {
    if (wholeIsSame() || match_.kind == Kind::Dissolved) return ratiosOf(before_.whole, after_.whole, 1);
    if (match_.kind != Kind::Rounds) {
      const auto [a, b] = bothTogether();
      return ratiosOf(a, b, workTogether());
    }
    // What its loops cost less by as many rounds as those before do the same in; they themselves are the least.
    ModelledTime::Cycles whole = after_.whole, least{};
    for (std::size_t l = 0; l < after_.inner.size(); ++l)
      for (std::size_t s = 0; s < whole.size(); ++s) {
        const double all = after_.inner[l].rounds * after_.inner[l].cycles[s];
        least[s] += all / match_.rounds[l];
        whole[s] += all / match_.rounds[l] - all;
      }
    for (std::size_t s = 0; s < whole.size(); ++s) whole[s] = std::max(whole[s], least[s]);
    return ratiosOf(before_.whole, whole, 1);
  }

 private:
  using Kind = timing::WorkMatch::Kind;
  static constexpr std::string_view kSameWork = ", for the same work";
  static constexpr std::string_view kFewWarps = " with few warps";

  static timing::CodeWork workOf(const ModelledTime& time) {
    timing::CodeWork work{time.work, {}};
    for (const ModelledTime::Loop& loop : time.inner) work.inner.push_back({loop.rounds, loop.work});
    return work;
  }

  static ModelledTime::Cycles ratiosOf(const ModelledTime::Cycles& a, const ModelledTime::Cycles& b, double work) {
    ModelledTime::Cycles ratios{};
    for (std::size_t s = 0; s < a.size(); ++s) ratios[s] = std::max(b[s], 1.0) / std::max(a[s], 1.0) / work;
    return ratios;
  }

  // `after` by what `before` does.
  static Comparison compareCycles(const ModelledTime::Cycles& before, const ModelledTime::Cycles& after,
                                  double rounds, int digits, std::string_view where,
                                  const ModelledTime::Cycles& same = kSameTimes) {
    Comparison result;
    for (std::size_t s = 0; s < kScenarioNames.size(); ++s) {
      const double a = before[s], b = after[s] / rounds;
      const int sign = isLonger(a, b, same[s]) - isLonger(b, a, same[s]);
      if (sign == 0 || (sign < 0 && result.sign < 0)) continue;
      result = {sign, Measure::Cycles, wholeNumber(a), wholeNumber(b),
                fmt::format("{} {:.{}f} -> {:.{}f}{}", kScenarioNames[s], a, digits, b, digits, where)};
      if (sign > 0) break;
    }
    return result;
  }

  double roundsOf(std::size_t loop) const { return match_.rounds.empty() ? 1 : match_.rounds[loop]; }

  // As many loops on both sides.
  Comparison compareLoops() const {
    Comparison better;
    const bool slipsAreOutweighed = wholeIsSame() && gainsOutweighSlips();
    for (std::size_t l = 0; l < before_.inner.size(); ++l) {
      const std::string in = fmt::format(" in innermost loop {}{}", l + 1, roundsOf(l) == 1 ? "" : kSameWork);
      Comparison loop = compareCycles(before_.inner[l].cycles, after_.inner[l].cycles, roundsOf(l), 2, in);
      if (loop.sign > 0 && !slipsAreOutweighed) return loop;
      if (better.sign == 0 && loop.sign < 0) better = std::move(loop);
    }
    // The whole hides what a loop gains in a unit that does not limit it.
    Comparison whole = wholeIsSame() ? compareWhole() : Comparison();
    return whole.sign != 0 ? whole : better;
  }

  Comparison compareWhole() const {
    Comparison many = compareCycles(before_.whole, after_.whole, 1, 0, {});
    if (many.sign > 0) return many;
    // With few warps nothing may lose more, as a part of what it costs, than the whole gains with many.
    ModelledTime::Cycles same{};
    for (std::size_t s = 0; s < same.size(); ++s)
      same[s] = std::max(kSameAlone, gainOf(before_.whole[s], after_.whole[s]));
    Comparison few = compareCycles(before_.alone, after_.alone, 1, 0, kFewWarps, same);
    if (few.sign > 0) return few;
    if (Comparison loop = compareLoopsWithFew(same); loop.sign > 0) return loop;
    return many.sign == 0 ? few : many;
  }

  // A loop may also lose more if the whole gains with few warps. Loops around others count as well: what a pass puts before a
  // loop is in the one around it, and inner loops may go round less often than is assumed.
  Comparison compareLoopsWithFew(const ModelledTime::Cycles& same) const {
    if (before_.loopsAlone.size() != after_.loopsAlone.size()) return {};
    for (std::size_t l = 0; l < before_.loopsAlone.size(); ++l)
      for (std::size_t s = 0; s < kScenarioNames.size(); ++s) {
        const double a = before_.loopsAlone[l][s], b = after_.loopsAlone[l][s];
        if (!isLonger(a, b, same[s]) || b <= a + kSlipCycles || isLonger(after_.alone[s], before_.alone[s]))
          continue;
        return {1, Measure::Cycles, wholeNumber(a), wholeNumber(b),
                fmt::format("{} {:.2f} -> {:.2f} in loop {}{}", kScenarioNames[s], a, b, l + 1, kFewWarps)};
      }
    return {};
  }

  // Where some loops become a little slower, and the whole gains so much more that it remains faster if these loops go round
  // several times as often as was assumed. It is compared by itself whether the whole became slower.
  bool gainsOutweighSlips() const {
    for (std::size_t s = 0; s < kScenarioNames.size(); ++s) {
      double slips = 0;
      for (std::size_t l = 0; l < before_.inner.size(); ++l) {
        const double a = before_.inner[l].cycles[s], b = after_.inner[l].cycles[s];
        if (!isLonger(a, b)) continue;
        if (isLonger(a, b, kSlip) && (b > a + kSlipCycles || isLonger(a, b, kMostSlip))) return false;
        slips += std::max(before_.inner[l].rounds, kLeastRounds) * (b - a);
      }
      const double gain =
          std::max(gainOf(before_.whole[s], after_.whole[s]), gainOf(before_.alone[s], after_.alone[s]));
      if (slips > 0 && slips * kGainOfSlip > gain * before_.whole[s]) return false;
    }
    return true;
  }

  // As a part of what it was; what says nothing is none.
  static double gainOf(double before, double after) { return isLonger(after, before) ? 1 - after / before : 0; }

  // Another number of loops, which do not do the same in 8 rounds: ptxas made two of one, or none, on one side only. What
  // costs more for the same work is worse. Nothing is better by this: which loop was made of which is not known.
  Comparison compareTogether() const {
    const auto [a, b] = bothTogether();
    const std::string in = fmt::format("{}{}", haveLoops() ? " in innermost loops together" : "", kSameWork);
    Comparison result = compareCycles(a, b, workTogether(), 0, in);
    return result.sign > 0 ? result : Comparison();
  }

  // Of one loop before, several were made: the main one, and others for the rounds that are left.
  Comparison compareRuns() const {
    Comparison better;
    for (std::size_t l = 0; l < before_.inner.size(); ++l) {
      ModelledTime::Cycles cycles{};
      double rounds = 0;
      for (const timing::LoopShare& share : match_.runs[l]) {
        rounds += share.rounds * share.copies;
        for (std::size_t s = 0; s < cycles.size(); ++s)
          cycles[s] += share.rounds * after_.inner[share.loop].cycles[s];
      }
      const std::string in = fmt::format(" in innermost loop {}{}", l + 1, kSameWork);
      Comparison loop = compareCycles(before_.inner[l].cycles, cycles, rounds, 2, in);
      if (loop.sign > 0) return loop;
      if (better.sign == 0) better = std::move(loop);
    }
    return better;
  }

  // Of one loop before, several were made, of which a check chooses one: better if some cost less and none costs more than
  // anything that it may be a version of.
  Comparison compareVersions() const {
    Comparison better;
    for (std::size_t l = 0; l < after_.inner.size(); ++l)
      for (const timing::VersionOf& of : match_.versions[l]) {
        const std::string in = fmt::format(" in innermost loop {}{}", of.loop + 1, kSameWork);
        Comparison loop = compareCycles(before_.inner[of.loop].cycles, after_.inner[l].cycles, of.copies, 2, in);
        if (loop.sign > 0) return loop;
        if (better.sign == 0) better = std::move(loop);
      }
    return better;
  }

  bool haveLoops() const { return !before_.inner.empty() && !after_.inner.empty(); }

  // Cycles before and after of all innermost loops, or of the whole if one side has none.
  std::pair<ModelledTime::Cycles, ModelledTime::Cycles> bothTogether() const {
    if (!haveLoops()) return {before_.whole, after_.whole};
    return {together(before_), together(after_)};
  }

  // How much more is done after in what these cycles are of.
  double workTogether() const { return match_.kind == Kind::Unknown ? 1 : match_.ratio.value; }

  static ModelledTime::Cycles together(const ModelledTime& time) {
    ModelledTime::Cycles sum{};
    for (const ModelledTime::Loop& loop : time.inner)
      for (std::size_t s = 0; s < kScenarioNames.size(); ++s) sum[s] += loop.rounds * loop.cycles[s];
    return sum;
  }

  ModelledTime before_, after_;
  bool haveSameLoops_;
  timing::WorkMatch match_;
};

}  // namespace

std::string Comparison::text() const { return detail.empty() ? fmt::format("{} -> {}", before, after) : detail; }

namespace {

std::optional<TimeComparison> timesOf(const FunctionMeasures& before, const FunctionMeasures& after) {
  if (!before.time || !after.time || before.time->model != after.time->model) return std::nullopt;
  return TimeComparison(*before.time, *after.time, before.stack == after.stack);
}

}  // namespace

std::optional<timing::WorkMatch> workMatchOf(const FunctionMeasures& before, const FunctionMeasures& after) {
  const auto times = timesOf(before, after);
  return times ? std::optional(times->match()) : std::nullopt;
}

std::optional<uint64_t> cyclesForWorkOf(const FunctionMeasures& before, const FunctionMeasures& after) {
  const auto times = timesOf(before, after);
  if (!times) return std::nullopt;
  if (times->wholeIsSame()) return value(after, Measure::Cycles);
  return wholeNumber(static_cast<double>(*value(before, Measure::Cycles)) * times->ratio());
}

std::optional<ModelledTime::Cycles> scenariosForWorkOf(const FunctionMeasures& before,
                                                       const FunctionMeasures& after) {
  const auto times = timesOf(before, after);
  if (!times) return std::nullopt;
  if (times->wholeIsSame()) return after.time->whole;
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
  if (const auto times = timesOf(before, after); times && rule == GuardRule::Time) {
    if (Comparison time = times->compare(); time.sign != 0) return time;
    constexpr std::array kWarps{Measure::Warps};
    if (const Comparison warps = compare(before, after, kWarps); warps.sign != 0) return warps;
    if (times->wholeIsSame())
      if (Comparison issued = compareIssued(*before.time, *after.time); issued.sign != 0) return issued;
  }
  return compare(before, after, kByWarps);
}

}  // namespace

Comparison compare(const FunctionMeasures& before, const FunctionMeasures& after, GuardRule rule) {
  Comparison notes = compareNotes(before, after);
  if (notes.sign > 0) return notes;
  Comparison figures = compareFigures(before, after, rule);
  return figures.sign != 0 ? figures : notes;
}

}  // namespace ptxopt::ptxas
