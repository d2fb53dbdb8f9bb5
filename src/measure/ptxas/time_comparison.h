// Modelled time of two versions of a kernel, compared by what both do alike (timing/loop_matching.h). compare.h says the rule.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "ptxas/compare.h"
#include "ptxas/measures.h"
#include "timing/kernel_time.h"
#include "timing/loop_matching.h"

namespace ptxopt::ptxas {

inline constexpr std::array<std::string_view, 3> kScenarioNames{"L1", "L2", "DRAM"};
inline constexpr double kSameTime = 0.005;  // of the cycles: less says nothing
inline constexpr ModelledTime::Cycles kSameTimes{kSameTime, kSameTime, kSameTime};

inline bool isLonger(double a, double b, double same = kSameTime) { return b > a * (1 + same); }

class TimeComparison {
 public:
  TimeComparison(const ModelledTime& before, const ModelledTime& after, bool isSameFrame);

  // Whether a run of the whole does the same before and after.
  bool wholeIsSame() const { return match_.kind == Kind::Whole; }
  // Whether ratios() are of all that both do, for the same work.
  bool isOfWhole() const {
    return match_.kind == Kind::Whole || match_.kind == Kind::Rounds || match_.kind == Kind::Dissolved ||
           match_.kind == Kind::Runs;
  }
  const timing::WorkMatch& match() const { return match_; }
  const ModelledTime& after() const { return after_; }

  Comparison compare() const;

  // The cycles of `after` to those of `before`, for the same work: the geometric mean over where data may lie.
  double ratio() const;

  // ... and for each of these.
  ModelledTime::Cycles ratios() const;

 private:
  using Kind = timing::WorkMatch::Kind;
  static constexpr std::string_view kSameWork = ", for the same work";
  static constexpr std::string_view kFewWarps = " with few warps";

  static timing::CodeWork workOf(const ModelledTime& time);

  static ModelledTime::Cycles ratiosOf(const ModelledTime::Cycles& a, const ModelledTime::Cycles& b, double work);

  // `after` by what `before` does.
  static Comparison compareCycles(const ModelledTime::Cycles& before, const ModelledTime::Cycles& after,
                                  double rounds, int digits, std::string_view where,
                                  const ModelledTime::Cycles& same = kSameTimes);

  double roundsOf(std::size_t loop) const { return match_.rounds.empty() ? 1 : match_.rounds[loop]; }

  // As many loops on both sides.
  Comparison compareLoops() const;

  Comparison compareWhole() const;

  // A loop may also lose more if the whole gains with few warps. Loops around others count as well: what a pass puts before a
  // loop is in the one around it, and inner loops may go round less often than is assumed.
  Comparison compareLoopsWithFew(const ModelledTime::Cycles& same) const;

  // Where some loops become a little slower, and the whole gains so much more that it remains faster if these loops go round
  // several times as often as was assumed. It is compared by itself whether the whole became slower.
  bool gainsOutweighSlips() const;

  // As a part of what it was; what says nothing is none.
  static double gainOf(double before, double after) { return isLonger(after, before) ? 1 - after / before : 0; }

  // Another number of loops, which do not do the same in 8 rounds: ptxas made two of one, or none, on one side only.
  // What costs more for the same work is worse. Nothing is better by this: which loop became which is not known.
  Comparison compareTogether() const;

  // One loop before became several: the main one, and others for the rounds that are left.
  Comparison compareRuns() const;

  // One loop before became several, and a check chooses one: better if some cost less and none costs more than
  // anything that it may be a version of.
  Comparison compareVersions() const;

  bool haveLoops() const { return !before_.inner.empty() && !after_.inner.empty(); }

  // Cycles before and after of all innermost loops, or of the whole if one side has none.
  std::pair<ModelledTime::Cycles, ModelledTime::Cycles> bothTogether() const;

  // How much more is done after in what these cycles are of.
  double workTogether() const { return match_.kind == Kind::Unknown ? 1 : match_.ratio.value; }

  static ModelledTime::Cycles together(const ModelledTime& time);

  ModelledTime before_, after_;
  bool haveSameLoops_;
  timing::WorkMatch match_;
};

}  // namespace ptxopt::ptxas
