#include "timing/loop_matching.h"

#include <algorithm>
#include <cmath>

namespace ptxopt::timing {
namespace {

constexpr double kSame = 0.05;  // of a figure: what is not executed in each round counts in part

// Rounds of `before` in one of `after`; none: not known, or no whole number.
std::optional<double> copiesIn(const Work& after, const Work& before) {
  std::optional<double> copies;
  for (const double Work::*const witness : {&Work::written, &Work::computed, &Work::read}) {
    const double a = before.*witness, b = after.*witness;
    if (a <= 0 && b <= 0) continue;
    if (a <= 0 || b <= 0) return std::nullopt;
    const double ratio = b / a, whole = std::round(ratio);
    if (whole < 1 || std::abs(ratio - whole) > kSame * whole || (copies && *copies != whole)) return std::nullopt;
    copies = whole;
  }
  return copies;
}

// The same where a version may write and read less.
std::optional<double> copiesInVersion(const Work& after, const Work& before) {
  const double Work::*const witness = before.computed > 0 ? &Work::computed : &Work::written;
  if (before.*witness <= 0 || after.*witness <= 0 || (after.computed > 0) != (before.computed > 0))
    return std::nullopt;
  const double copies = after.*witness / before.*witness;
  const bool isMore =
      after.written > before.written * copies * (1 + kSame) || after.read > before.read * copies * (1 + kSame);
  return isMore ? std::nullopt : std::optional(copies);
}

}  // namespace

std::optional<std::vector<std::vector<VersionOf>>> findVersions(std::span<const Work> before,
                                                                std::span<const Work> after) {
  std::vector<std::vector<VersionOf>> versions;
  std::vector<bool> isFound(before.size());
  for (const Work& loop : after) {
    std::vector<VersionOf>& of = versions.emplace_back();
    for (std::size_t l = 0; l < before.size(); ++l) {
      const auto copies = copiesInVersion(loop, before[l]);
      if (!copies) continue;
      of.push_back({l, *copies});
      isFound[l] = isFound[l] || *copies < 1 + kSame;
    }
    if (of.empty()) return std::nullopt;
  }
  if (std::ranges::find(isFound, false) != isFound.end()) return std::nullopt;
  return versions;
}

std::optional<std::vector<std::vector<LoopShare>>> matchLoops(std::span<const Work> before,
                                                              std::span<const Work> after, double assumedRounds) {
  if (before.empty() || after.size() < before.size()) return std::nullopt;
  std::size_t extra = after.size() - before.size(), next = 0;
  std::vector<std::vector<LoopShare>> runs;
  for (const Work& loop : before) {
    std::vector<LoopShare>& run = runs.emplace_back();
    const auto first = copiesIn(after[next], loop);
    if (!first) return std::nullopt;
    run.push_back({next++, *first, assumedRounds});
    while (extra != 0 && next != after.size()) {
      const auto copies = copiesIn(after[next], loop);
      const double more = run.back().copies;
      if (!copies || *copies >= more) break;
      run.push_back({next++, *copies, (more / *copies - 1) / 2});
      --extra;
    }
    if (run.size() > 1 && run.back().copies != 1) return std::nullopt;
  }
  if (next != after.size()) return std::nullopt;
  return runs;
}

}  // namespace ptxopt::timing
