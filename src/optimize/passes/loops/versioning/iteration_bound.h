// How far what a loop steps through may go, as numbers that are known before the loop.
//
// A loop of one block ends by a test of a counter. With n the number of backedges that are taken and c the size of the
// counter's step, `distance` is an expression of 64 bits that is at least n * c, and below 2^33, if the checks hold
// that are made with it. They also say that the counter wraps in none of these iterations; what it computes there is
// therefore what numbers without end would be. All is computed in 64 bits from values of 32 bits, or from differences
// that are checked to be below 2^32, so nothing of the computation wraps.
//
//   i < limit      distance = limit - tested - 1 + c, tested as in the first test; checked: tested < limit, and that
//                  limit - 1 + c is a number of the counter's type (not where the trip count is known); c > 0 where it
//                  is a register
//   i > limit      the same downwards, for constant steps
//   i != limit     distance = limit - tested; checked: that it is a multiple of c, where that is not known
// A loop that would end after its first iteration does not pass.
//
// `reach` says how far a value goes whose step is a number, a multiple of the counter's step, or a register; the latter
// times the distance, after a check that it is not negative and small enough.
#pragma once

#include <optional>

#include "passes/loops/versioning/run_time_checks.h"

namespace ptxopt {

class IterationBound {
 public:
  // None where the loop has no such counter: `why` says so.
  static std::optional<IterationBound> find(ScalarEvolution& evolution, LoopId l, std::string_view& why);

  struct Reach {
    ExprId size;  // at least n times the size of the step; below 2^62
    bool goesDown = false;
    RunTimeChecks checks;
  };
  // What a step of 64 bits reaches that does not vary in the loop.
  std::optional<Reach> reach(ExprId step) const;

  const RunTimeChecks& checks() const { return checks_; }
  // The register that the counter steps by, and that value in 64 bits; none where the step is a number.
  ExprId registerStep() const { return narrowStep_; }
  ExprId wideStep() const { return wideStep_; }

 private:
  explicit IterationBound(ScalarEvolution& evolution) : evolution_(evolution), checks_(evolution.expressions()) {}
  bool findSteps(const ExitTest& t);
  bool countTo(const ExitTest& t, bool isCounted);
  bool countUntilEqual(const ExitTest& t, bool isCounted);
  ExprId constant(uint64_t c) const { return evolution_.expressions().constant(c, 64); }
  ExprId extend(ExprId a, bool isSigned) const;

  ScalarEvolution& evolution_;
  RunTimeChecks checks_;
  uint64_t size_ = 0;  // of a constant step
  ExprId narrowStep_, wideStep_;
  ExprId distance_;
};

}  // namespace ptxopt
