// The counting half of ScalarEvolution: exit tests, trip counts, ranges of recurrences and proofs that they do not
// wrap. See scalar_evolution.h.
#include <algorithm>
#include <bit>

#include "analysis/scalar_evolution.h"

namespace ptxopt {
namespace {

__extension__ using Wide = __int128;

struct ComparisonName {
  std::string_view name;
  Relation comparison;
  bool isUnsigned;
};
constexpr ComparisonName kComparisons[] = {
    {"eq", Relation::Equal, false},       {"ne", Relation::NotEqual, false}, {"lt", Relation::Less, false},
    {"le", Relation::LessEqual, false},   {"gt", Relation::Greater, false},  {"ge", Relation::GreaterEqual, false},
    {"lo", Relation::Less, true},         {"ls", Relation::LessEqual, true}, {"hi", Relation::Greater, true},
    {"hs", Relation::GreaterEqual, true},
};

// The numbers of a width, signed or unsigned.
struct Domain {
  unsigned width;
  bool isSigned;
  Wide least() const { return isSigned ? -(Wide{1} << (width - 1)) : 0; }
  Wide most() const { return isSigned ? (Wide{1} << (width - 1)) - 1 : (Wide{1} << width) - 1; }
  Wide low(const IntegerRange& r) const {
    return r.width() == 0 || r.isEmpty() ? least() : isSigned ? Wide{r.smallest()} : Wide{r.least()};
  }
  Wide high(const IntegerRange& r) const {
    return r.width() == 0 || r.isEmpty() ? most() : isSigned ? Wide{r.largest()} : Wide{r.most()};
  }
  IntegerRange range(Wide low, Wide high) const {
    if (low < least() || high > most() || low > high) return IntegerRange::full(width);
    return isSigned ? IntegerRange::ofSigned(width, static_cast<int64_t>(low), static_cast<int64_t>(high))
                    : IntegerRange::ofUnsigned(width, static_cast<uint64_t>(low), static_cast<uint64_t>(high));
  }
};

}  // namespace

// ---- tests ----

// The tests that each round of the loop runs, of an integer recurrence with what does not vary in the loop.
void ScalarEvolution::findTests(LoopId l) {
  if (loops_[l].irreducible) return;
  const std::vector<BlockId> latches = loops_.latches(cfg_, l);
  for (const Loops::Exit& exit : loops_.exits(cfg_, l)) {
    if (!exit.to.valid() || loops_.of(exit.from) != l || cfg_.successors(exit.from).size() != 2) continue;
    if (!std::ranges::all_of(latches, [&](BlockId b) { return dominators_.dominates(exit.from, b); })) continue;
    const Instruction& branch = f_[cfg_[exit.from].last];
    if (!branch.isInstruction() || !branch.is(Instruction::Guarded) || !module_.form(branch).is(effect::Branch))
      continue;
    const auto operands = f_.operandsOf(branch);
    const Operand& guard = operands[0];
    LabelId target;
    for (const Operand& o : operands)
      if (o.kind == OperandKind::Label) target = LabelId(o.payload);
    if (!target.valid() || !guard.isRegister()) continue;
    const bool leavesWhenTaken = cfg_.blockOf(f_.labels[target.value].place) == exit.to;

    const InstrId branchId = cfg_[exit.from].last;
    const InstrId test = ranges_.definitionRead(guard.reg(), branchId);
    if (!test.valid() || loops_.of(cfg_.blockOf(test)) != l) continue;
    const OpcodeForm& form = module_.form(f_[test]);
    const std::string_view opcode = module_.text(form.text);
    const auto sources = f_.operandsOf(f_[test]);
    if (form.row == nullptr || form.row->key != "setp" || sources.size() != 3 || !sources[0].isRegister()) continue;
    const std::size_t end = opcode.find('.', 5);
    const std::string_view word = end == std::string_view::npos ? std::string_view() : opcode.substr(5, end - 5);
    const auto known = std::ranges::find(kComparisons, word, &ComparisonName::name);
    const RegisterClass type = info(form.type).registerClass;
    if (known == std::end(kComparisons) || opcode.substr(end + 1) != info(form.type).name ||
        (type != RegisterClass::B16 && type != RegisterClass::B32 && type != RegisterClass::B64))
      continue;

    const unsigned width = info(form.type).bits;
    const auto get = [&](const Operand& o) -> ExprId {
      if (const auto bits = immediate(f_, o)) return e_.constant(*bits, width);
      return o.isRegister() && o.flags == 0 && widthOf(o.reg()) == width ? read(o.reg(), test) : ExprId();
    };
    ExitTest t;
    t.loop = l;
    t.block = exit.from;
    t.test = test;
    t.branch = branchId;
    t.tested = get(sources[1]);
    t.limit = get(sources[2]);
    t.comparison = known->comparison;
    t.isSigned = info(form.type).name.starts_with('s') && !known->isUnsigned;
    if (!t.tested.valid() || !t.limit.valid()) continue;
    if (e_.isRecurrence(t.limit, l)) {
      std::swap(t.tested, t.limit);
      t.comparison = swapped(t.comparison);
      t.swapped = true;
    }
    if (!e_.isRecurrence(t.tested, l) || !e_.isInvariant(t.limit, l)) continue;
    // The loop goes on while the branch does not leave it.
    const bool goesOnWhenTrue = leavesWhenTaken == guard.is(Operand::Not);
    t.trueGoesOn = goesOnWhenTrue;
    if (!goesOnWhenTrue) t.comparison = negated(t.comparison);
    tests_[l.value].push_back(t);
  }
}

// ---- trip counts ----

TripCount ScalarEvolution::countByTest(const ExitTest& t) {
  const auto unknown = [](std::string_view why) {
    TripCount c;
    c.unknown = why;
    return c;
  };
  const Expr tested = e_[t.tested];
  if (!e_.isConstant(tested.step())) return unknown("step-varies");
  const Domain domain{tested.width, t.isSigned};
  const Wide step = signedAt(e_[tested.step()].constant, tested.width);
  const uint64_t size = static_cast<uint64_t>(step < 0 ? -step : step);
  ExprId start = tested.start(), limit = t.limit;
  const BlockId header = loops_[t.loop].header;
  TripCount count;
  count.test = t.test;
  const auto bound = [&](ExprId rounds) {
    const IntegerRange r = range(rounds);
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
      const Domain d{tested.width, isSigned};
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
  } else if (farthest + static_cast<Wide>(size) - 1 <= Domain{tested.width, false}.most()) {
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
  const Domain domain{e_[start].width, isSigned};
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
  rangeMemo_.clear();
}

// ---- ranges ----

IntegerRange ScalarEvolution::range(ExprId e) {
  if (const auto known = rangeMemo_.find(e.value); known != rangeMemo_.end()) return known->second;
  // While it is being computed nothing is known of it.
  rangeMemo_.emplace(e.value, IntegerRange::full(e_[e].width));
  const IntegerRange r = rangeAt(e, BlockId());
  rangeMemo_.insert_or_assign(e.value, r);
  return r;
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
        all = add(all, mul(of(t.expr), IntegerRange::constant(n.width, t.factor)));
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

// By the most rounds that run: start + step * [0, most], where that stays within the numbers.
static std::optional<IntegerRange> byRounds(unsigned width, bool isSigned, const IntegerRange& start, Wide step,
                                            uint64_t most) {
  const Domain domain{width, isSigned};
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
      if (const auto r = byRounds(n.width, isSigned, starts, step, *trip.most)) all = all.meet(*r);
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
  const Domain domain{n.width, isSigned};
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
    // The last number of `tested` that goes on, and whether one more step fits behind it and behind the start.
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
      byRounds(n.width, isSigned, startRange(recurrence), step, *trip.most))
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
  const Domain domain{n.width, isSigned};
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
