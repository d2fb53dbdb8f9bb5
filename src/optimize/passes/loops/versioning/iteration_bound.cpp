// The counter's steps are found first; then the exit test, ordered or for inequality, gives the distance that the
// counter covers. That is an expression of 64 bits, which holds under the checks collected with it; for each group it
// is scaled by the ratio of the steps.
#include "passes/loops/versioning/iteration_bound.h"

#include <bit>

namespace ptxopt {
namespace {

constexpr uint64_t kMostDistance = uint64_t{1} << 32;
constexpr uint64_t kMostAddressStep = uint64_t{1} << 29;  // of an address, and of a counter in bytes of it

}  // namespace

ExprId IterationBound::extend(ExprId a, bool isSigned) const {
  if (evolution_.expressions()[a].width == 64) return a;
  return isSigned ? evolution_.signExtend(a, 64) : evolution_.zeroExtend(a, 64);
}

std::optional<IterationBound> IterationBound::find(ScalarEvolution& evolution, LoopId l, std::string_view& why) {
  why = "counter";
  const auto tests = evolution.exitTests(l);
  if (tests.size() != 1) return std::nullopt;
  const ExitTest& t = tests[0];
  const ScevExpressions& e = evolution.expressions();
  const unsigned width = e[t.tested].width;
  if ((width != 32 && width != 64) || t.comparison == Relation::Equal) return std::nullopt;
  if (!e.isInvariant(e[t.tested].start(), l) || !e.isInvariant(e[t.tested].step(), l)) return std::nullopt;
  const bool isCounted = evolution.tripCount(l).exact.valid();
  IterationBound bound(evolution);
  if (!bound.findSteps(t)) return std::nullopt;
  if (!(t.comparison == Relation::NotEqual ? bound.countUntilEqual(t, isCounted) : bound.countTo(t, isCounted)))
    return std::nullopt;
  if (bound.checks_.isNever()) return std::nullopt;
  why = {};
  return bound;
}

bool IterationBound::findSteps(const ExitTest& t) {
  const ScevExpressions& e = evolution_.expressions();
  const ExprId step = e[t.tested].step();
  const bool goesUp = t.comparison == Relation::Less || t.comparison == Relation::LessEqual;
  if (e.isConstant(step)) {
    const int64_t c = signedAt(e[step].constant, e[step].width);
    size_ = static_cast<uint64_t>(c < 0 ? -c : c);
    return size_ != 0 && size_ < kMostAddressStep && (t.comparison == Relation::NotEqual || (c > 0) == goesUp);
  }
  if (!goesUp) return false;
  narrowStep_ = step;
  wideStep_ = extend(step, t.isSigned);
  if (e[step].width == 64)
    checks_.less(evolution_.expressions().addConstant(step, ~uint64_t{0}), constant(kMostAddressStep), false);
  else
    checks_.less(wideStep_, constant(1), true, false);
  return true;
}

bool IterationBound::countTo(const ExitTest& t, bool isCounted) {
  ScevExpressions& e = evolution_.expressions();
  const bool goesUp = t.comparison == Relation::Less || t.comparison == Relation::LessEqual;
  const bool isInclusive = t.comparison == Relation::LessEqual || t.comparison == Relation::GreaterEqual;
  const ExprId tested = extend(e[t.tested].start(), t.isSigned), limit = extend(t.limit, t.isSigned);
  const ExprId step = wideStep_.valid() ? wideStep_ : constant(size_);
  const ExprId low = goesUp ? tested : limit, high = goesUp ? limit : tested;
  const ExprId between = e.subtract(high, low);
  const bool isSure = isCounted || (!wideStep_.valid() && size_ == 1 && !isInclusive);
  if (e[t.tested].width == 64) {
    // One more iteration than the first: then the difference is that of numbers.
    checks_.less(low, high, t.isSigned);
    checks_.less(between, constant(kMostDistance - 1), false);
    // Far enough from the end for a step beyond the limit.
    const ExprId beyond = e.addConstant(limit, goesUp ? kMostDistance : ~kMostDistance + 1);
    if (!isSure) checks_.less(goesUp ? limit : beyond, goesUp ? beyond : limit, t.isSigned);
  } else {
    checks_.less(constant(0), between, true);
    // The farthest number that the counter comes to.
    const ExprId last = e.addConstant(goesUp ? e.add(limit, step) : e.subtract(limit, step),
                                      isInclusive ? 0 : (goesUp ? ~uint64_t{0} : 1));
    const int64_t least = t.isSigned ? INT32_MIN : 0, end = t.isSigned ? int64_t{1} << 31 : int64_t{1} << 32;
    if (!isSure && goesUp) checks_.less(last, constant(static_cast<uint64_t>(end)), true);
    if (!isSure && !goesUp) checks_.less(last, constant(static_cast<uint64_t>(least)), true, false);
  }
  distance_ = e.addConstant(e.add(between, step), isInclusive ? 0 : ~uint64_t{0});
  return true;
}

bool IterationBound::countUntilEqual(const ExitTest& t, bool isCounted) {
  ScevExpressions& e = evolution_.expressions();
  const ExprId start = e[t.tested].start(), step = e[t.tested].step();
  if (!e.isConstant(step)) return false;
  const bool goesUp = signedAt(e[step].constant, e[step].width) > 0;
  const ExprId narrow = goesUp ? e.subtract(t.limit, start) : e.subtract(start, t.limit);
  distance_ = extend(narrow, false);
  if (e[narrow].width == 64) checks_.less(distance_, constant(kMostDistance), false);
  if (isCounted || size_ == 1) return true;
  if (!std::has_single_bit(size_)) return false;
  checks_.multiple(distance_, size_);
  return true;
}

std::optional<IterationBound::Reach> IterationBound::reach(ExprId step) const {
  ScevExpressions& e = evolution_.expressions();
  Reach r{.size = {}, .goesDown = false, .checks = RunTimeChecks(e)};
  const auto by = [&](int64_t factor, uint64_t divisor) {
    const uint64_t size = static_cast<uint64_t>(factor < 0 ? -factor : factor);
    r.goesDown = factor < 0;
    if (factor <= -static_cast<int64_t>(kMostAddressStep) || factor >= static_cast<int64_t>(kMostAddressStep))
      return false;
    r.size = e.scale(distance_, (size + divisor - 1) / divisor);
    return true;
  };
  if (e.isConstant(step)) {
    const bool isFine = by(static_cast<int64_t>(e[step].constant), wideStep_.valid() ? 1 : size_);
    return isFine ? std::optional(r) : std::nullopt;
  }
  if (wideStep_.valid()) {
    if (step == wideStep_) return by(1, 1) ? std::optional(r) : std::nullopt;
    if (e[step].kind == ExprKind::Sum && e[step].constant == 0 && e[step].termCount == 1 &&
        e.terms(step)[0].expr == wideStep_)
      return by(static_cast<int64_t>(e.terms(step)[0].factor), 1) ? std::optional(r) : std::nullopt;
  }
  // A register: as it is, or without the factor that the counter's step has, too.
  ExprId part = step;
  if (size_ > 1 && e[step].kind == ExprKind::Sum &&
      static_cast<int64_t>(e[step].constant) % static_cast<int64_t>(size_) == 0) {
    ExprId divided =
        constant(static_cast<uint64_t>(static_cast<int64_t>(e[step].constant) / static_cast<int64_t>(size_)));
    bool isMultiple = true;
    const std::vector<ExprTerm> terms(e.terms(step).begin(), e.terms(step).end());
    for (const ExprTerm& term : terms) {
      const auto factor = static_cast<int64_t>(term.factor);
      isMultiple &= factor % static_cast<int64_t>(size_) == 0;
      divided = e.add(divided, e.scale(term.expr, static_cast<uint64_t>(factor / static_cast<int64_t>(size_))));
    }
    if (isMultiple) part = divided;
  }
  r.checks.less(part, constant(kMostAddressStep), false);
  r.size = e.multiply(distance_, part);
  return r;
}

}  // namespace ptxopt
