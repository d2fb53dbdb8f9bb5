// Loops are compared by ratios of witnesses of their work, which have to agree on a whole number within five percent.
// The kinds of match are tried in the header's order, and the first that holds is taken.
#include "timing/loop_matching.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ptxopt::timing {
namespace {

using Loop = CodeWork::Loop;
using MatchKind = WorkMatch::Kind;

constexpr double kSame = 0.05;  // of a figure: what is not executed in each iteration counts in part

bool isNearly(double value, double whole) { return std::abs(value - whole) <= kSame * whole; }

// Whether arithmetic alone gives a whole number, exactly, and of all else there is less: it vanished.
bool isLeftOfMore(const Work& after, const Work& before, const Ratio& ratio, double whole) {
  constexpr double kExact = 0.01;
  if (before.computed <= 0 || std::abs(of(after, Witness::Computed) / before.computed - whole) > kExact)
    return false;
  return ratio.by <= Witness::Computed && after.exchanged <= before.exchanged * whole &&
         after.read <= before.read * whole && after.written <= before.written * whole;
}

// Iterations of `before` in one of `after`; none: not known, or no whole number.
std::optional<Ratio> copiesIn(const Work& after, const Work& before) {
  auto ratio = agreedRatio(after, before, kSame);
  if (!ratio) return std::nullopt;
  const double whole = std::round(ratio->value);
  if (whole < 1 || !isNearly(ratio->value, whole)) return std::nullopt;
  const bool isMajority = 2 * ratio->agree > ratio->all;
  if (!isMajority && !isLeftOfMore(after, before, *ratio, whole)) return std::nullopt;
  ratio->value = whole;
  return ratio;
}

// The same where a version may write and read less.
std::optional<double> copiesInVersion(const Work& after, const Work& before) {
  const Witness witness = before.computed > 0 ? Witness::Computed : Witness::Written;
  if (of(before, witness) <= 0 || of(after, witness) <= 0 || (after.computed > 0) != (before.computed > 0))
    return std::nullopt;
  const double copies = of(after, witness) / of(before, witness);
  const bool isMore =
      after.written > before.written * copies * (1 + kSame) || after.read > before.read * copies * (1 + kSame);
  return isMore ? std::nullopt : std::optional(copies);
}

bool findVersions(std::span<const Loop> before, std::span<const Loop> after, WorkMatch& match) {
  if (before.size() >= after.size()) return false;
  std::vector<std::vector<VersionOf>> versions;
  std::vector<bool> isFound(before.size());
  for (const Loop& loop : after) {
    std::vector<VersionOf>& its = versions.emplace_back();
    for (std::size_t l = 0; l < before.size(); ++l) {
      const auto copies = copiesInVersion(loop.work, before[l].work);
      if (!copies) continue;
      its.push_back({l, *copies});
      isFound[l] = isFound[l] || *copies < 1 + kSame;
    }
    if (its.empty()) return false;
  }
  if (std::ranges::find(isFound, false) != isFound.end()) return false;
  match.kind = MatchKind::Versions;
  match.versions = std::move(versions);
  return true;
}

bool findRuns(std::span<const Loop> before, std::span<const Loop> after, double assumedIterations,
              WorkMatch& match) {
  if (before.empty() || after.size() < before.size()) return false;
  std::size_t extra = after.size() - before.size(), next = 0;
  std::vector<std::vector<LoopShare>> runs;
  for (const Loop& loop : before) {
    std::vector<LoopShare>& run = runs.emplace_back();
    const auto first = copiesIn(after[next].work, loop.work);
    if (!first) return false;
    if (runs.size() == 1) match.ratio = *first;
    run.push_back({next++, first->value, assumedIterations});
    while (extra != 0 && next != after.size()) {
      const auto copies = copiesIn(after[next].work, loop.work);
      const double more = run.back().copies;
      if (!copies || copies->value >= more) break;
      run.push_back({next++, copies->value, (more / copies->value - 1) / 2});
      --extra;
    }
    if (run.size() > 1 && run.back().copies != 1) return false;
  }
  if (next != after.size()) return false;
  match.kind = MatchKind::Runs;
  match.runs = std::move(runs);
  return true;
}

// Iterations of a loop of `more` that come to what `less` does besides; none: witnesses disagree.
std::optional<Ratio> dissolvedIterations(const CodeWork& more, std::size_t loop, const CodeWork& less) {
  Work others = more.whole;
  others.add(more.inner[loop].work, -more.inner[loop].iterations);
  others.add(less.whole, -1);
  Work left;  // what is not in `others`
  left.add(others, -1);
  std::optional<Ratio> iterations = copiesIn(left, more.inner[loop].work);
  return iterations && iterations->value > 1 ? iterations : std::nullopt;
}

// The one loop that the other side does not have; the others are the same, in order.
bool findDissolved(const CodeWork& before, const CodeWork& after, WorkMatch& match) {
  const bool isBefore = before.inner.size() == after.inner.size() + 1;
  if (!isBefore && after.inner.size() != before.inner.size() + 1) return false;
  const CodeWork& more = isBefore ? before : after;
  const CodeWork& less = isBefore ? after : before;
  bool found = false;
  for (std::size_t l = 0; l < more.inner.size(); ++l) {
    bool othersAreSame = true;
    for (std::size_t o = 0; o < less.inner.size(); ++o) {
      const auto copies = copiesIn(less.inner[o].work, more.inner[o < l ? o : o + 1].work);
      othersAreSame = othersAreSame && copies && copies->value == 1;
    }
    if (!othersAreSame) continue;
    const auto iterations = dissolvedIterations(more, l, less);
    if (!iterations) continue;
    if (found) return false;  // it may be either
    found = true;
    match.dissolved = {isBefore, l, iterations->value};
    match.ratio = *iterations;
  }
  if (found) match.kind = MatchKind::Dissolved;
  return found;
}

Ratio together(const CodeWork& before, const CodeWork& after) {
  if (before.inner.empty() || after.inner.empty()) return workRatio(after.whole, before.whole);
  Work a, b;
  for (const Loop& loop : before.inner) a.add(loop.work, loop.iterations);
  for (const Loop& loop : after.inner) b.add(loop.work, loop.iterations);
  return workRatio(b, a);
}

void matchInOrder(const CodeWork& before, const CodeWork& after, WorkMatch& match) {
  for (std::size_t l = 0; l < before.inner.size(); ++l) {
    const auto iterations = iterationsIn(after.inner[l].work, before.inner[l].work);
    match.iterations.push_back(iterations ? iterations->value : 0);
    // Nothing is known of one loop: the others alone decide nothing.
    if (!iterations) match.kind = MatchKind::Unknown;
    if (iterations && iterations->value != 1 && match.kind == MatchKind::Whole) {
      match.kind = MatchKind::Iterations;
      match.ratio = *iterations;
    }
  }
}

}  // namespace

std::string_view nameOf(WorkMatch::Kind kind) {
  constexpr std::array<std::string_view, 7> kNames{"whole",    "iterations", "runs",   "dissolved",
                                                   "versions", "together",   "unknown"};
  return kNames[static_cast<std::size_t>(kind)];
}

WorkMatch matchWork(const CodeWork& before, const CodeWork& after, bool isSameFrame, double assumedIterations) {
  WorkMatch match;
  if (before.inner.size() == after.inner.size()) {
    if (isSameFrame) matchInOrder(before, after, match);
    return match;
  }
  if (!isSameFrame || workRatio(after.whole, before.whole).value == 1) return match;
  if (findRuns(before.inner, after.inner, assumedIterations, match) || findDissolved(before, after, match))
    return match;
  if (!findVersions(before.inner, after.inner, match)) match.kind = MatchKind::Together;
  match.ratio = together(before, after);
  return match;
}

}  // namespace ptxopt::timing
