// The kind of match decides what is compared: loops one by one, runs of loops, versions, all loops together, or the
// whole. Each comparison goes over the three memory scenarios, and the first that is worse decides.
#include "ptxas/time_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ptxopt::ptxas {
namespace {

constexpr double kSameAlone = 0.02;  // with few warps
// A loop may become slower by this part of its cycles, or by two cycles an iteration and less than a quarter, if the whole gains
// several times as much, with many warps or with few.
constexpr double kSlip = 0.1, kSlipCycles = 2, kMostSlip = 0.25, kGainOfSlip = 3;
constexpr double kLeastIterations = 1;  // of a loop that slips: after many conditions hardly any are assumed

}  // namespace

TimeComparison::TimeComparison(const ModelledTime& before, const ModelledTime& after, bool isSameFrame)
    : before_(before),
      after_(after),
      haveSameLoops_(before.inner.size() == after.inner.size()),
      match_(timing::matchWork(workOf(before), workOf(after), isSameFrame, timing::kAssumedIterations)) {
  if (match_.kind != Kind::Dissolved) return;
  const auto& [isBefore, loop, iterations] = match_.dissolved;
  ModelledTime& time = isBefore ? before_ : after_;
  const double more = iterations - time.inner[loop].iterations;
  for (std::size_t s = 0; s < time.whole.size(); ++s)
    time.whole[s] =
        std::max(time.whole[s] + more * time.inner[loop].cycles[s], iterations * time.inner[loop].cycles[s]);
}

Comparison TimeComparison::compare() const {
  switch (match_.kind) {
    case Kind::Whole: return haveSameLoops_ ? compareLoops() : compareWhole();
    case Kind::Iterations: return compareLoops();
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

double TimeComparison::ratio() const {
  double product = 1;
  for (const double r : ratios()) product *= std::cbrt(r);
  return product;
}

ModelledTime::Cycles TimeComparison::ratios() const {
  if (wholeIsSame() || match_.kind == Kind::Dissolved) return ratiosOf(before_.whole, after_.whole, 1);
  if (match_.kind != Kind::Iterations) {
    const auto [a, b] = bothTogether();
    return ratiosOf(a, b, workTogether());
  }
  // What its loops cost less by as many iterations as those before do the same in; they themselves are the least.
  ModelledTime::Cycles whole = after_.whole, least{};
  for (std::size_t l = 0; l < after_.inner.size(); ++l)
    for (std::size_t s = 0; s < whole.size(); ++s) {
      const double all = after_.inner[l].iterations * after_.inner[l].cycles[s];
      least[s] += all / match_.iterations[l];
      whole[s] += all / match_.iterations[l] - all;
    }
  for (std::size_t s = 0; s < whole.size(); ++s) whole[s] = std::max(whole[s], least[s]);
  return ratiosOf(before_.whole, whole, 1);
}

timing::CodeWork TimeComparison::workOf(const ModelledTime& time) {
  timing::CodeWork work{time.work, {}};
  for (const ModelledTime::Loop& loop : time.inner) work.inner.push_back({loop.iterations, loop.work});
  return work;
}

ModelledTime::Cycles TimeComparison::ratiosOf(const ModelledTime::Cycles& a, const ModelledTime::Cycles& b,
                                              double work) {
  ModelledTime::Cycles ratios{};
  for (std::size_t s = 0; s < a.size(); ++s) ratios[s] = std::max(b[s], 1.0) / std::max(a[s], 1.0) / work;
  return ratios;
}

Comparison TimeComparison::compareCycles(const ModelledTime::Cycles& before, const ModelledTime::Cycles& after,
                                         double iterations, int digits, std::string_view where,
                                         const ModelledTime::Cycles& same) {
  Comparison result;
  for (std::size_t s = 0; s < kScenarioNames.size(); ++s) {
    const double a = before[s], b = after[s] / iterations;
    const int sign = isLonger(a, b, same[s]) - isLonger(b, a, same[s]);
    if (sign == 0 || (sign < 0 && result.sign < 0)) continue;
    result = {sign, Measure::Cycles, wholeNumber(a), wholeNumber(b),
              fmt::format("{} {:.{}f} -> {:.{}f}{}", kScenarioNames[s], a, digits, b, digits, where)};
    if (sign > 0) break;
  }
  return result;
}

Comparison TimeComparison::compareLoops() const {
  Comparison better;
  const bool slipsAreOutweighed = wholeIsSame() && gainsOutweighSlips();
  for (std::size_t l = 0; l < before_.inner.size(); ++l) {
    const std::string in = fmt::format(" in innermost loop {}{}", l + 1, iterationsOf(l) == 1 ? "" : kSameWork);
    Comparison loop = compareCycles(before_.inner[l].cycles, after_.inner[l].cycles, iterationsOf(l), 2, in);
    if (loop.sign > 0 && !slipsAreOutweighed) return loop;
    if (better.sign == 0 && loop.sign < 0) better = std::move(loop);
  }
  // The whole hides what a loop gains in a unit that does not limit it.
  Comparison whole = wholeIsSame() ? compareWhole() : Comparison();
  return whole.sign != 0 ? whole : better;
}

Comparison TimeComparison::compareWhole() const {
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

Comparison TimeComparison::compareLoopsWithFew(const ModelledTime::Cycles& same) const {
  if (before_.loopsAlone.size() != after_.loopsAlone.size()) return {};
  for (std::size_t l = 0; l < before_.loopsAlone.size(); ++l)
    for (std::size_t s = 0; s < kScenarioNames.size(); ++s) {
      const double a = before_.loopsAlone[l][s], b = after_.loopsAlone[l][s];
      if (!isLonger(a, b, same[s]) || b <= a + kSlipCycles || isLonger(after_.alone[s], before_.alone[s])) continue;
      return {1, Measure::Cycles, wholeNumber(a), wholeNumber(b),
              fmt::format("{} {:.2f} -> {:.2f} in loop {}{}", kScenarioNames[s], a, b, l + 1, kFewWarps)};
    }
  return {};
}

bool TimeComparison::gainsOutweighSlips() const {
  for (std::size_t s = 0; s < kScenarioNames.size(); ++s) {
    double slips = 0;
    for (std::size_t l = 0; l < before_.inner.size(); ++l) {
      const double a = before_.inner[l].cycles[s], b = after_.inner[l].cycles[s];
      if (!isLonger(a, b)) continue;
      if (isLonger(a, b, kSlip) && (b > a + kSlipCycles || isLonger(a, b, kMostSlip))) return false;
      slips += std::max(before_.inner[l].iterations, kLeastIterations) * (b - a);
    }
    const double gain =
        std::max(gainOf(before_.whole[s], after_.whole[s]), gainOf(before_.alone[s], after_.alone[s]));
    if (slips > 0 && slips * kGainOfSlip > gain * before_.whole[s]) return false;
  }
  return true;
}

Comparison TimeComparison::compareTogether() const {
  const auto [a, b] = bothTogether();
  const std::string in = fmt::format("{}{}", haveLoops() ? " in innermost loops together" : "", kSameWork);
  Comparison result = compareCycles(a, b, workTogether(), 0, in);
  return result.sign > 0 ? result : Comparison();
}

Comparison TimeComparison::compareRuns() const {
  Comparison better;
  for (std::size_t l = 0; l < before_.inner.size(); ++l) {
    ModelledTime::Cycles cycles{};
    double iterations = 0;
    for (const timing::LoopShare& share : match_.runs[l]) {
      iterations += share.iterations * share.copies;
      for (std::size_t s = 0; s < cycles.size(); ++s)
        cycles[s] += share.iterations * after_.inner[share.loop].cycles[s];
    }
    const std::string in = fmt::format(" in innermost loop {}{}", l + 1, kSameWork);
    Comparison loop = compareCycles(before_.inner[l].cycles, cycles, iterations, 2, in);
    if (loop.sign > 0) return loop;
    if (better.sign == 0) better = std::move(loop);
  }
  return better;
}

Comparison TimeComparison::compareVersions() const {
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

std::pair<ModelledTime::Cycles, ModelledTime::Cycles> TimeComparison::bothTogether() const {
  if (!haveLoops()) return {before_.whole, after_.whole};
  return {together(before_), together(after_)};
}

ModelledTime::Cycles TimeComparison::together(const ModelledTime& time) {
  ModelledTime::Cycles sum{};
  for (const ModelledTime::Loop& loop : time.inner)
    for (std::size_t s = 0; s < kScenarioNames.size(); ++s) sum[s] += loop.iterations * loop.cycles[s];
  return sum;
}

}  // namespace ptxopt::ptxas
