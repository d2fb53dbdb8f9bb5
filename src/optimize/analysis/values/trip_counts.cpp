// How often loops iterate: a part of ScalarEvolution, see scalar_evolution.h.
#include <algorithm>
#include <bit>

#include "analysis/values/number_domain.h"
#include "analysis/values/scalar_evolution.h"

namespace ptxopt {

using Wide = NumberDomain::Wide;

TripCount ScalarEvolution::countByTest(const ExitTest& t) {
  const auto unknown = [](std::string_view why) {
    TripCount c;
    c.unknown = why;
    return c;
  };
  const Expr tested = e_[t.tested];
  if (!e_.isConstant(tested.step())) return unknown("step-varies");
  const NumberDomain domain{tested.width, t.isSigned};
  const Wide step = signedAt(e_[tested.step()].constant, tested.width);
  const uint64_t size = static_cast<uint64_t>(step < 0 ? -step : step);
  ExprId start = tested.start(), limit = t.limit;
  const BlockId header = loops_[t.loop].header;
  TripCount count;
  count.test = t.test;
  const auto bound = [&](ExprId iterations) {
    const IntegerRange r = range(iterations);
    if (r.width() != 0 && !r.isEmpty()) count.most = std::min(count.most.value_or(UINT64_MAX), r.most());
  };

  if (t.comparison == Relation::Equal) {
    // It goes on while they are equal: the next number is another one.
    count.most = 1;
    count.unknown = "equality";
    return count;
  }
  if (t.comparison == Relation::NotEqual) {
    const ExprId distance = step > 0 ? e_.subtract(limit, start) : e_.subtract(start, limit);
    if (size == 1) {
      count.exact = distance;
    } else if (std::has_single_bit(size) &&
               e_.trailingZeros(distance) >= static_cast<unsigned>(std::countr_zero(size))) {
      count.exact = e_.divide(distance, e_.constant(size, tested.width));
    } else if (e_.isConstant(distance) && e_[distance].constant % size == 0) {
      count.exact = e_.constant(e_[distance].constant / size, tested.width);
    } else {
      return unknown("step-may-not-meet-limit");
    }
    // Where it starts before the limit it only has to go there.
    for (const bool isSigned : {false, true}) {
      const NumberDomain d{tested.width, isSigned};
      const IntegerRange s = startRange(t.tested), to = rangeAt(limit, header);
      const Wide most = step > 0 ? d.high(to) - d.low(s) : d.high(s) - d.low(to);
      const bool isBefore = step > 0 ? d.high(s) <= d.low(to) : d.low(s) >= d.high(to);
      if (isBefore)
        count.most = std::min<uint64_t>(count.most.value_or(UINT64_MAX), static_cast<uint64_t>(most) / size);
    }
    bound(count.exact);
    return count;
  }

  const bool goesUp = t.comparison == Relation::Less || t.comparison == Relation::LessEqual;
  if (goesUp != (step > 0)) return unknown("runs-away-from-limit");
  const bool inclusive = t.comparison == Relation::LessEqual || t.comparison == Relation::GreaterEqual;
  const IntegerRange limits = rangeAt(limit, header), starts = startRange(t.tested);
  // Beyond the last number that goes on, by one step at most: it must not pass the end.
  const Wide last = goesUp ? domain.high(limits) - !inclusive : domain.low(limits) + !inclusive;
  if (last + step > domain.most() || last + step < domain.least()) return unknown("may-wrap");
  const ExprId named = limit;  // as a condition on the way here may name it
  if (inclusive) limit = e_.addConstant(limit, goesUp ? 1 : ~uint64_t{0});

  const Wide farthest = goesUp ? last + 1 - domain.low(starts) : domain.high(starts) - (last - 1);
  count.most = farthest <= 0 ? 0 : static_cast<uint64_t>((farthest + size - 1) / size);
  const bool ordered = isKnownOrdered(start, limit, goesUp, t.isSigned, header) ||
                       (inclusive && isKnownOrdered(start, named, goesUp, t.isSigned, header));
  if (!ordered) {
    const ExprKind kind = goesUp ? (t.isSigned ? ExprKind::SignedMax : ExprKind::UnsignedMax)
                                 : (t.isSigned ? ExprKind::SignedMin : ExprKind::UnsignedMin);
    limit = e_.minMax(kind, limit, start);
  }
  const ExprId distance = goesUp ? e_.subtract(limit, start) : e_.subtract(start, limit);
  if (size == 1) {
    count.exact = distance;
  } else if (farthest + static_cast<Wide>(size) - 1 <= NumberDomain{tested.width, false}.most()) {
    count.exact = e_.divide(e_.addConstant(distance, size - 1), e_.constant(size, tested.width));
  } else {
    count.unknown = "step-may-wrap";
    return count;
  }
  bound(count.exact);
  return count;
}

// Whether `start` is known to be at most (at least, when the loop counts down) `limit` on entry.
bool ScalarEvolution::isKnownOrdered(ExprId start, ExprId limit, bool goesUp, bool isSigned, BlockId header) {
  const NumberDomain domain{e_[start].width, isSigned};
  const IntegerRange s = rangeAt(start, header), l = rangeAt(limit, header);
  if (goesUp ? domain.high(s) <= domain.low(l) : domain.low(s) >= domain.high(l)) return true;
  // A condition on the way here that compares the limit with the start or with the number before it.
  for (const BranchCondition& c : ranges_.conditionsAt(header)) {
    if (c.width != domain.width || c.isSigned != isSigned) continue;
    const Relation comparison = c.relation;
    if (comparison == Relation::Equal || comparison == Relation::NotEqual) continue;
    const auto get = [&](const ConditionOperand& o) -> ExprId {
      if (o.isConstant()) return e_.constant(o.constant, domain.width);
      return widthOf(o.reg) == domain.width ? of(o.reg, o.value) : ExprId();
    };
    const ExprId a = get(c.left), b = get(c.right);
    if (!a.valid() || !b.valid()) continue;
    ExprId low = a, high = b;
    if (comparison == Relation::Greater || comparison == Relation::GreaterEqual) std::swap(low, high);
    const bool strict = comparison == Relation::Less || comparison == Relation::Greater;
    if (goesUp) {
      if (high == limit && (low == start || (strict && e_.addConstant(low, 1) == start))) return true;
      if (strict && low == start && e_.addConstant(limit, 1) == high) return true;
    } else {
      if (low == limit && (high == start || (strict && e_.addConstant(high, ~uint64_t{0}) == start))) return true;
    }
  }
  return false;
}

void ScalarEvolution::countTrips(LoopId l) {
  TripCount& trip = trips_[l.value];
  if (loops_[l].irreducible) {
    trip.unknown = "irreducible";
    return;
  }
  trip.unknown = "no-affine-test";
  const std::vector<Loops::Exit> exits = loops_.exits(cfg_, l);
  if (exits.empty()) trip.unknown = "endless";
  for (const ExitTest& t : tests_[l.value]) {
    const TripCount c = countByTest(t);
    if (tests_[l.value].size() == 1) trip.unknown = c.unknown;
    if (c.most && (!trip.most || *c.most < *trip.most)) {
      trip.most = c.most;
      trip.test = c.test;
    }
    if (c.exact.valid() && exits.size() == 1) {
      trip.exact = c.exact;
      trip.test = c.test;
      trip.unknown = {};
    }
  }
  if (!trip.exact.valid() && exits.size() > 1 && !tests_[l.value].empty()) trip.unknown = "several-exits";
  forgetRanges();
}

}  // namespace ptxopt
