// What conditions say of values: a part of ValueBounds, see value_bounds.h.
#include <algorithm>
#include <bit>

#include "analysis/addresses/value_bounds.h"

namespace ptxopt {
namespace {

// By what `of` is to be multiplied to be `all`, a number of 32 bits; 0: there is none.
int64_t howOften(int64_t all, int64_t of) {
  if (of == 0 || all == INT64_MIN || of == INT64_MIN || all % of != 0) return 0;
  const int64_t k = all / of;
  return k <= INT32_MAX && k >= INT32_MIN ? k : 0;
}

}  // namespace

const std::vector<ValueBounds::Fact>& ValueBounds::factsAt(BlockId b) {
  const auto [at, isNew] = facts_.try_emplace(b.value);
  if (!isNew) return at->second;
  std::vector<Fact> facts;
  for (const BranchCondition& c : ranges_.conditionsAt(b, kMostConditions)) addCondition(c, facts);
  for (LoopId l = loops_.of(b); l.valid(); l = loops_[l].parent)
    for (const ExitTest& t : evolution_.exitTests(l)) addTest(t, facts);
  return facts_[b.value] = std::move(facts);
}

void ValueBounds::addFact(Fact fact, std::vector<Fact>& facts) {
  facts.push_back(fact);
  if (e_[fact.expr].width >= 64 || fact.isTest) return;
  fact.expr = fact.isSigned ? evolution_.signExtend(fact.expr, 64) : evolution_.zeroExtend(fact.expr, 64);
  facts.push_back(fact);
}

void ValueBounds::addCondition(const BranchCondition& c, std::vector<Fact>& facts) {
  if (c.relation == Relation::NotEqual) return;
  const auto read = [&](const ConditionOperand& o) -> ExprId {
    if (o.isConstant()) return e_.constant(o.constant, c.width);
    // As the comparison sees it.
    const ExprId e = evolution_.seenFrom(o.reg, o.value, cfg_.blockOf(c.compare));
    return e.valid() && e_[e].width == c.width ? e : ExprId();
  };
  const ExprId left = read(c.left), right = read(c.right);
  if (!left.valid() || !right.valid()) return;
  const auto say = [&](ExprId of, ExprId limit, Relation relation, bool isSigned) {
    if (e_.isConstant(of)) return;
    Fact fact;
    fact.expr = of;
    fact.limit = limit;
    fact.isSigned = isSigned;
    const bool isEqual = relation == Relation::Equal;
    if (isEqual || relation == Relation::Less || relation == Relation::LessEqual) {
      fact.isMost = true;
      fact.offset = relation == Relation::Less ? -1 : 0;
      addFact(fact, facts);
    }
    if (isEqual || relation == Relation::Greater || relation == Relation::GreaterEqual) {
      fact.isMost = false;
      fact.offset = relation == Relation::Greater ? 1 : 0;
      addFact(fact, facts);
    }
  };
  for (const bool isSigned : {true, false}) {
    if (c.relation != Relation::Equal && c.isSigned != isSigned) continue;
    say(left, right, c.relation, isSigned);
    say(right, left, swapped(c.relation), isSigned);
  }
}

// The recurrence one step before: after the first iteration it is what was tested when the loop went on.
void ValueBounds::addTest(const ExitTest& t, std::vector<Fact>& facts) {
  const bool goesUp = t.comparison == Relation::Less || t.comparison == Relation::LessEqual;
  if (!goesUp && t.comparison != Relation::Greater && t.comparison != Relation::GreaterEqual) return;
  const Expr tested = e_[t.tested];
  const bool isStrict = t.comparison == Relation::Less || t.comparison == Relation::Greater;
  Fact fact;
  fact.isTest = true;
  fact.limit = t.limit;
  fact.offset = isStrict ? (goesUp ? -1 : 1) : 0;
  fact.isSigned = t.isSigned;
  fact.isMost = goesUp;
  fact.start = tested.start();
  fact.step = tested.step();
  fact.width = tested.width;
  const auto before = [&](ExprId start, ExprId step) {
    return e_.recurrence(t.loop, e_.subtract(start, step), step);
  };
  fact.expr = before(tested.start(), tested.step());
  addFact(fact, facts);
  if (tested.width >= 64) return;
  // Counted in 64 bits: the same whole number.
  const ExprId start =
      t.isSigned ? evolution_.signExtend(tested.start(), 64) : evolution_.zeroExtend(tested.start(), 64);
  fact.expr = before(start, evolution_.signExtend(tested.step(), 64));
  addFact(fact, facts);
}

// A value that is in the middle of being bounded by a condition is not bounded by it again.
ValueBound ValueBounds::fromFacts(ExprId e, bool isSigned) {
  if (std::ranges::find(matching_, e) != matching_.end()) return {};
  ValueBound known;
  const NumberKind kind = isSigned ? NumberKind::Signed : NumberKind::Unsigned;
  const std::vector<Fact> facts = factsAt(at_);
  for (const Fact& fact : facts) {
    if (fact.expr != e || fact.isSigned != isSigned || fact.isTest) continue;
    TermId& side = fact.isMost ? known.most : known.least;
    if (side.valid()) continue;
    matching_.push_back(e);
    const std::string_view before = why_;
    const ValueBound limit = bound(fact.limit, kind);
    why_ = before;
    matching_.pop_back();
    const TermId end = fact.isMost ? limit.most : limit.least;
    if (end.valid()) side = terms_.addConstant(end, fact.offset);
  }
  return known;
}

// For the recurrence before the tested one, whole numbers s - step, s, s + step, ...: the first, and those after it,
// which were tested. No number that is tested wraps where limit + step does not.
ValueBound ValueBounds::fromTest(const Fact& fact) {
  const NumberKind kind = fact.isSigned ? NumberKind::Signed : NumberKind::Unsigned;
  const ValueBound start = bound(fact.start, kind), limit = bound(fact.limit, kind);
  const ValueBound step = bound(fact.step, NumberKind::Signed);
  if (!start.isKnown() || !step.isKnown()) return {};
  const unsigned width = fact.width;
  const bool isWide = width >= 62;
  const int64_t far = int64_t{1} << 60;
  const int64_t largest = isWide          ? far
                          : fact.isSigned ? (int64_t{1} << (width - 1)) - 1
                                          : (int64_t{1} << width) - 1;
  const int64_t smallest = !fact.isSigned ? 0 : isWide ? -far : -(int64_t{1} << (width - 1));
  const TermId first = terms_.subtract(start.least, step.most), last = terms_.subtract(start.most, step.least);
  if (fact.isMost) {
    if (!limit.most.valid() || !assumptions_->assume(step.least, 0, std::nullopt)) return {};
    const TermId end = terms_.addConstant(limit.most, fact.offset), after = terms_.add(end, step.most);
    if (!after.valid() || !assumptions_->assume(after, std::nullopt, largest)) return {};
    return {first, terms_.minMax(TermKind::Max, end, last)};
  }
  if (!limit.least.valid() || !assumptions_->assume(step.most, std::nullopt, 0)) return {};
  const TermId end = terms_.addConstant(limit.least, fact.offset), after = terms_.add(end, step.least);
  if (!after.valid() || !assumptions_->assume(after, smallest, std::nullopt)) return {};
  return {terms_.minMax(TermKind::Min, end, first), last};
}

// The most that a loop goes back to its header; none: unknown.
TermId ValueBounds::iterations(LoopId l) {
  const TripCount trips = evolution_.tripCount(l);
  TermId most;
  if (trips.exact.valid()) most = bound(trips.exact, NumberKind::Unsigned).most;
  const std::vector<ExitTest> tests(evolution_.exitTests(l).begin(), evolution_.exitTests(l).end());
  for (const ExitTest& t : tests)
    if (!most.valid()) most = iterations(t);
  constexpr uint64_t kFew = 1u << 30;
  if (!most.valid() && trips.most && *trips.most <= kFew) most = terms_.constant(static_cast<int64_t>(*trips.most));
  return most;
}

TermId ValueBounds::iterations(const ExitTest& t) {
  const Expr tested = e_[t.tested];
  if (!e_.isConstant(tested.step())) return {};
  const int64_t step = signedAt(e_[tested.step()].constant, tested.width);
  if (step == 0 || step < -INT32_MAX || step > INT32_MAX) return {};
  const auto size = static_cast<uint64_t>(step < 0 ? -step : step);
  const auto bits = static_cast<unsigned>(std::bit_width(size) - 1);
  if (t.comparison == Relation::NotEqual) {
    // It meets the limit if the distance is a multiple of the step.
    const ExprId distance = step > 0 ? e_.subtract(t.limit, tested.start()) : e_.subtract(tested.start(), t.limit);
    if (!std::has_single_bit(size) || bits == 0 || !e_.isConstant(e_.truncate(distance, bits), 0)) return {};
    return terms_.shiftRight(bound(distance, NumberKind::Unsigned).most, bits);
  }
  const bool goesUp = t.comparison == Relation::Less || t.comparison == Relation::LessEqual;
  if (!goesUp && t.comparison != Relation::Greater && t.comparison != Relation::GreaterEqual) return {};
  if (goesUp != (step > 0)) return {};
  // The last number that goes on, and one step more, is within the bounds of the recurrence one step before.
  for (const Fact& fact : std::vector<Fact>(factsAt(loops_[t.loop].header)))
    if (fact.isTest && fact.limit == t.limit && fact.start == tested.start() && fact.step == tested.step() &&
        fact.isMost == goesUp && fact.isSigned == t.isSigned) {
      const ValueBound before = fromTest(fact);
      return terms_.shiftRight(terms_.subtract(before.most, before.least), bits);
    }
  return {};
}

// How often `condition` is in `e`, and what is left without it: simpler than `e`.
std::optional<ValueBounds::Part> ValueBounds::match(ExprId e, ExprId condition) {
  if (e_[e].width != e_[condition].width || e_.isConstant(condition)) return std::nullopt;
  const unsigned width = e_[e].width;
  // How often `b` is `a`, a constant or proportional.
  const auto ratio = [&](ExprId a, ExprId b) -> int64_t {
    if (a == b) return 1;
    const auto firstFactor = [&](ExprId x) -> std::pair<ExprId, int64_t> {
      if (e_.isConstant(x)) return {ExprId(), signedAt(e_[x].constant, width)};
      if (e_[x].kind != ExprKind::Sum) return {x, 1};
      return {e_.terms(x)[0].expr, signedAt(e_.terms(x)[0].factor, width)};
    };
    const auto [of, times] = firstFactor(a);
    const auto [with, by] = firstFactor(b);
    const int64_t often = of == with ? howOften(times, by) : 0;
    return often != 0 && e_.scale(b, static_cast<uint64_t>(often)) == a ? often : 0;
  };
  int64_t k = 0;
  const Expr c = e_[condition];
  if (c.kind == ExprKind::Recurrence) {
    const auto ofRecurrence = [&](ExprId x, uint64_t factor) {
      if (k != 0 || !e_.isRecurrence(x, c.loop)) return;
      k = ratio(e_.scale(e_[x].step(), factor), c.step());
    };
    ofRecurrence(e, 1);
    if (e_[e].kind == ExprKind::Sum) {
      const std::vector<ExprTerm> terms(e_.terms(e).begin(), e_.terms(e).end());
      for (const ExprTerm& t : terms) ofRecurrence(t.expr, t.factor);
    }
  } else if (c.kind == ExprKind::Sum && e_[e].kind == ExprKind::Sum) {
    const ExprTerm first = e_.terms(condition)[0];
    const int64_t by = signedAt(first.factor, width);
    for (const ExprTerm& t : e_.terms(e))
      if (t.expr == first.expr) k = howOften(signedAt(t.factor, width), by);
  } else {
    uint64_t difference = 0;
    if (!e_.differByConstant(e, condition, difference) || difference == 0) return std::nullopt;
    k = 1;
  }
  if (k == 0) return std::nullopt;
  const ExprId rest = e_.subtract(e, e_.scale(condition, static_cast<uint64_t>(k)));
  if (c.kind == ExprKind::Recurrence ? !e_.isInvariant(rest, c.loop) : e_[rest].size >= e_[e].size)
    return std::nullopt;
  return Part{k, {}, rest};
}

// The same where a recurrence moves by something that all threads have alike times the condition's step.
std::optional<ValueBounds::Part> ValueBounds::matchFactor(ExprId e, ExprId condition) {
  const Expr n = e_[e], c = e_[condition];
  if (n.width != c.width || n.kind != ExprKind::Recurrence || c.kind != ExprKind::Recurrence || n.loop != c.loop)
    return std::nullopt;
  ExprId step = n.step(), factor = e_.constant(1, n.width);
  if (e_[step].kind == ExprKind::Sum && e_[step].termCount == 1 && e_[step].constant == 0) {
    factor = e_.constant(e_.terms(step)[0].factor, n.width);
    step = e_.terms(step)[0].expr;
  }
  const std::vector<ExprTerm> terms = e_[step].kind == ExprKind::Product
                                          ? std::vector<ExprTerm>(e_.terms(step).begin(), e_.terms(step).end())
                                          : std::vector<ExprTerm>{{step, 1}};
  bool isFound = e_.isConstant(c.step(), 1);
  for (const ExprTerm& t : terms) {
    if (!isFound && t.expr == c.step())
      isFound = true;
    else
      factor = e_.multiply(factor, t.expr);
  }
  if (!isFound || !isUniform(factor, 0)) return std::nullopt;
  const ExprId rest = e_.subtract(e, e_.multiply(factor, condition));
  return e_.isInvariant(rest, c.loop) ? std::optional(Part{0, factor, rest}) : std::nullopt;
}

ValueBound ValueBounds::matched(ExprId e) {
  const ExprKind kind = e_[e].kind;
  if ((kind != ExprKind::Sum && kind != ExprKind::Recurrence) || isUniform(e, 0)) return {};
  struct Match {
    Fact fact;
    Part part;
  };
  std::vector<Match> all;
  const std::vector<Fact> facts = factsAt(at_);
  for (const Fact& fact : facts) {
    if (std::ranges::find(combining_, fact.expr) != combining_.end() || (!fact.isTest && fact.expr == e)) continue;
    if (std::ranges::any_of(all, [&](const Match& m) { return m.fact.expr == fact.expr && !fact.isTest; }))
      continue;
    auto part = match(e, fact.expr);
    if (!part) part = matchFactor(e, fact.expr);
    if (part) all.push_back({fact, *part});
  }
  std::ranges::stable_sort(all, {}, [&](const Match& m) { return e_[m.part.rest].size; });
  if (all.size() > 3) all.resize(3);
  const auto times = [&](const ValueBound& of, const Part& part) {
    return part.times != 0 ? scale(of, part.times) : multiply(of, bound(part.factor, NumberKind::Any));
  };
  for (const Match& m : all) {
    combining_.push_back(m.fact.expr);
    const std::string_view before = why_;
    const BoundAssumptions kept = *assumptions_;
    const ValueBound condition = m.fact.isTest ? fromTest(m.fact) : bound(m.fact.expr, NumberKind::Any);
    combining_.pop_back();
    const ValueBound rest = condition.isKnown() ? bound(m.part.rest, NumberKind::Any) : ValueBound();
    const ValueBound sum = rest.isKnown() ? add(times(condition, m.part), rest) : ValueBound();
    if (sum.isKnown()) return sum;
    why_ = before;
    *assumptions_ = kept;
  }
  return {};
}

}  // namespace ptxopt
