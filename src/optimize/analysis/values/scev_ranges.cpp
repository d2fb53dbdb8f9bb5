// What expressions may be, proofs that recurrences do not wrap, and extensions that these let inside: a part of
// ScalarEvolution, see scalar_evolution.h.
#include <algorithm>

#include "analysis/values/number_domain.h"
#include "analysis/values/scalar_evolution.h"

namespace ptxopt {

using Wide = NumberDomain::Wide;

IntegerRange ScalarEvolution::range(ExprId e) {
  if (rangeOf_.size() <= e.value) rangeOf_.resize(e_.size());
  if (rangeOf_[e.value] != 0) return knownRanges_[rangeOf_[e.value] - 1].second;
  // While it is being computed nothing is known of it.
  knownRanges_.emplace_back(e, IntegerRange::full(e_[e].width));
  const std::size_t at = knownRanges_.size();
  rangeOf_[e.value] = static_cast<uint32_t>(at);
  const IntegerRange r = rangeAt(e, BlockId());
  knownRanges_[at - 1].second = r;
  return r;
}

void ScalarEvolution::forgetRanges() {
  for (const auto& [e, range] : knownRanges_) rangeOf_[e.value] = 0;
  knownRanges_.clear();
}

// With the conditions that hold at a block, where there is one.
IntegerRange ScalarEvolution::rangeAt(ExprId e, BlockId block) {
  const Expr n = e_[e];
  const auto of = [&](ExprId x) { return block.valid() ? rangeAt(x, block) : range(x); };
  const auto sized = [&](IntegerRange r) { return r.width() == n.width ? r : IntegerRange::full(n.width); };
  switch (n.kind) {
    case ExprKind::Constant: return IntegerRange::constant(n.width, n.constant);
    case ExprKind::Value:
      return sized(block.valid() ? ranges_.at(n.reg(), n.value(), block) : ranges_.of(n.reg(), n.value()));
    case ExprKind::Sum: {
      IntegerRange all = IntegerRange::constant(n.width, n.constant);
      for (uint32_t k = 0; k < n.termCount; ++k) {
        const ExprTerm t = e_.terms(e)[k];
        const IntegerRange term = of(t.expr);
        const IntegerRange scaled = t.factor == 1 ? term : mul(term, IntegerRange::constant(n.width, t.factor));
        all = k == 0 && n.constant == 0 ? scaled : add(all, scaled);
      }
      return all;
    }
    case ExprKind::Product: {
      IntegerRange all = IntegerRange::constant(n.width, 1);
      for (uint32_t k = 0; k < n.termCount; ++k) {
        const ExprId factor = e_.terms(e)[k].expr;
        all = mul(all, of(factor));
      }
      return all;
    }
    case ExprKind::SignExtend: return sext(of(n.operand()), n.width);
    case ExprKind::ZeroExtend: return zext(of(n.operand()), n.width);
    case ExprKind::Truncate: return trunc(of(n.operand()), n.width);
    case ExprKind::UnsignedMin: return umin(of(n.left()), of(n.right()));
    case ExprKind::UnsignedMax: return umax(of(n.left()), of(n.right()));
    case ExprKind::SignedMin: return smin(of(n.left()), of(n.right()));
    case ExprKind::SignedMax: return smax(of(n.left()), of(n.right()));
    case ExprKind::UnsignedDivide: return udiv(of(n.left()), of(n.right()));
    case ExprKind::UnsignedRemainder: return urem(of(n.left()), of(n.right()));
    // The same in all blocks, so that its start, a recurrence of the loop around as like as not, is looked at once.
    case ExprKind::Recurrence: return block.valid() ? range(e) : rangeOfRecurrence(e);
  }
  return IntegerRange::full(n.width);
}

IntegerRange ScalarEvolution::startRange(ExprId recurrence) {
  return rangeAt(e_[recurrence].start(), loops_[e_[recurrence].loop].header);
}

// By the most iterations that run: start + step * [0, most], where that stays within the numbers.
static std::optional<IntegerRange> byIterations(unsigned width, bool isSigned, const IntegerRange& start, Wide step,
                                                uint64_t most) {
  const NumberDomain domain{width, isSigned};
  const Wide far = step * static_cast<Wide>(most);
  const Wide low = domain.low(start) + (step < 0 ? far : 0), high = domain.high(start) + (step > 0 ? far : 0);
  if (low < domain.least() || high > domain.most()) return std::nullopt;
  return domain.range(low, high);
}

IntegerRange ScalarEvolution::rangeOfRecurrence(ExprId e) {
  const Expr n = e_[e];
  IntegerRange all = IntegerRange::full(n.width);
  if (!e_.isConstant(n.step())) return all;
  const Wide step = signedAt(e_[n.step()].constant, n.width);
  const IntegerRange starts = startRange(e);
  for (const bool isSigned : {false, true}) {
    const TripCount& trip = trips_[n.loop.value];
    if (trip.most && *trip.most <= uint64_t{1} << 62)
      if (const auto r = byIterations(n.width, isSigned, starts, step, *trip.most)) all = all.meet(*r);
    IntegerRange r;
    if (boundedByTest(e, isSigned, r)) all = all.meet(r);
  }
  return all;
}

// An exit test of the recurrence itself or of its next value keeps it from passing the end of the numbers; its
// range then is that from the start to the limit.
std::optional<NoWrapProof> ScalarEvolution::boundedByTest(ExprId e, bool isSigned, IntegerRange& range) {
  const Expr n = e_[e];
  if (!e_.isConstant(n.step())) return std::nullopt;
  const NumberDomain domain{n.width, isSigned};
  const Wide step = signedAt(e_[n.step()].constant, n.width);
  const IntegerRange starts = startRange(e);
  for (const ExitTest& t : tests_[n.loop.value]) {
    const Expr tested = e_[t.tested];
    uint64_t ahead = 0;
    if (tested.width != n.width || tested.step() != n.step() ||
        !e_.differByConstant(tested.start(), n.start(), ahead))
      continue;
    const bool testsNext = ahead == maskTo(static_cast<uint64_t>(step), n.width);
    if (ahead != 0 && !testsNext) continue;
    const IntegerRange limits = rangeAt(t.limit, loops_[n.loop].header);
    bool inclusive = false;
    switch (t.comparison) {
      case Relation::NotEqual: {
        // By ones from before the limit it goes on only before it.
        const IntegerRange first = startRange(t.tested);
        if (step == 1 ? domain.high(first) > domain.low(limits)
                      : step != -1 || domain.low(first) < domain.high(limits))
          continue;
        break;
      }
      case Relation::LessEqual:
      case Relation::Less:
        if (step < 0 || t.isSigned != isSigned) continue;
        inclusive = t.comparison == Relation::LessEqual;
        break;
      case Relation::GreaterEqual:
      case Relation::Greater:
        if (step > 0 || t.isSigned != isSigned) continue;
        inclusive = t.comparison == Relation::GreaterEqual;
        break;
      case Relation::Equal: continue;
    }
    // The last number of `tested` that goes on, and whether one more step fits after it and after the start.
    const Wide last = step > 0 ? domain.high(limits) - !inclusive : domain.low(limits) + !inclusive;
    const Wide low = domain.low(starts), high = domain.high(starts);
    if (last + step > domain.most() || last + step < domain.least()) continue;
    if (testsNext && (high + step > domain.most() || low + step < domain.least())) continue;
    const Wide end = testsNext ? last : last + step;
    range = step > 0 ? domain.range(low, std::max(high, end)) : domain.range(std::min(low, end), high);
    return NoWrapProof{NoWrapProof::Kind::ExitTest, t.test};
  }
  return std::nullopt;
}

std::optional<NoWrapProof> ScalarEvolution::whyNoWrap(ExprId recurrence, bool isSigned) {
  const Expr n = e_[recurrence];
  if (n.kind != ExprKind::Recurrence || !e_.isConstant(n.step())) return std::nullopt;
  const Wide step = signedAt(e_[n.step()].constant, n.width);
  const TripCount& trip = trips_[n.loop.value];
  if (trip.most && *trip.most <= uint64_t{1} << 62 &&
      byIterations(n.width, isSigned, startRange(recurrence), step, *trip.most))
    return NoWrapProof{NoWrapProof::Kind::TripCount, trip.test};
  IntegerRange range;
  if (const auto proof = boundedByTest(recurrence, isSigned, range)) return proof;
  // By ones to where it ends: what lies between start and end is passed in order when the end is not before the
  // start.
  if (step == 1 && trip.exact.valid() && e_[trip.exact].width == n.width) {
    const ExprId last = e_.add(n.start(), trip.exact);
    if (isKnownOrdered(n.start(), last, true, isSigned, loops_[n.loop].header))
      return NoWrapProof{NoWrapProof::Kind::ExitTest, trip.test};
  }
  return std::nullopt;
}

// ---- extensions ----

// `sum` as whole numbers, its terms signed or unsigned, its factors signed: what it may be, unless that is beyond
// what can be counted here.
bool ScalarEvolution::sumFits(ExprId sum, bool isSigned) {
  const Expr n = e_[sum];
  const NumberDomain domain{n.width, isSigned};
  Wide low = signedAt(n.constant, n.width), high = low;
  for (uint32_t k = 0; k < n.termCount; ++k) {
    const ExprTerm t = e_.terms(sum)[k];
    const IntegerRange r = range(t.expr);
    const Wide factor = signedAt(t.factor, n.width);
    constexpr Wide kMost = Wide{1} << 62;
    const Wide a = domain.low(r) * factor, b = domain.high(r) * factor;
    low += std::min(a, b);
    high += std::max(a, b);
    if (low < -kMost || high > kMost) return false;
  }
  return low >= domain.least() && high <= domain.most();
}

ExprId ScalarEvolution::signExtend(ExprId a, unsigned width) {
  const Expr n = e_[a];
  if (n.width >= width) return a;
  if (n.kind == ExprKind::Constant) return e_.signExtend(a, width);
  if (range(a).isNeverNegative()) return zeroExtend(a, width);  // one form for both
  return extendInside(a, width, true);
}

ExprId ScalarEvolution::zeroExtend(ExprId a, unsigned width) {
  if (e_[a].width >= width) return a;
  return extendInside(a, width, false);
}

ExprId ScalarEvolution::extendInside(ExprId a, unsigned width, bool isSigned) {
  const Expr n = e_[a];
  const auto extend = [&](ExprId x) { return isSigned ? signExtend(x, width) : zeroExtend(x, width); };
  const auto extended = [&](uint64_t c) { return e_.constant(static_cast<uint64_t>(signedAt(c, n.width)), width); };
  if (n.kind == ExprKind::Recurrence && whyNoWrap(a, isSigned)) {
    const ExprId start = extend(n.start());
    return e_.recurrence(n.loop, start, extended(e_[n.step()].constant));
  }
  if (n.kind == ExprKind::Sum && sumFits(a, isSigned)) {
    ExprId all = extended(n.constant);
    for (uint32_t k = 0; k < n.termCount; ++k) {
      const ExprTerm t = e_.terms(a)[k];
      const ExprId inner = extend(t.expr);
      all = e_.add(all, e_.scale(inner, static_cast<uint64_t>(signedAt(t.factor, n.width))));
    }
    return all;
  }
  return isSigned ? e_.signExtend(a, width) : e_.zeroExtend(a, width);
}

}  // namespace ptxopt
