// Bounds follow the kinds of expressions, one function each, with limits on steps and depth. What conditions say is
// tried before the structure, and the first failure leaves its reason in `why`.
#include "analysis/addresses/value_bounds.h"

#include <algorithm>
#include <bit>

namespace ptxopt {
namespace {

constexpr int64_t kMost = static_cast<int64_t>(BoundAssumptions::kMostNumber);

// The numbers of a width; of 64 bits those that bounds can be.
std::pair<int64_t, int64_t> numbersOf(unsigned width, bool isSigned) {
  if (width >= 62) return {isSigned ? -kMost : 0, kMost};
  return isSigned ? std::pair(-(int64_t{1} << (width - 1)), (int64_t{1} << (width - 1)) - 1)
                  : std::pair(int64_t{0}, (int64_t{1} << width) - 1);
}

class Restore {
 public:
  Restore(BlockId& place, BlockId now) : place_(place), before_(place) { place_ = now; }
  Restore(const Restore&) = delete;
  ~Restore() { place_ = before_; }

 private:
  BlockId& place_;
  BlockId before_;
};

}  // namespace

ValueBounds::ValueBounds(const Module& module, const Function& kernel, Analyses& analyses, BoundTerms& terms)
    : module_(module),
      f_(kernel),
      cfg_(analyses.cfg()),
      loops_(analyses.loops()),
      slots_(analyses.slotIndexes()),
      intervals_(analyses.liveIntervals()),
      ranges_(analyses.valueRanges()),
      evolution_(analyses.scalarEvolution()),
      e_(evolution_.expressions()),
      terms_(terms) {}

ValueBound ValueBounds::of(ExprId e, NumberKind kind, BlockId b, BoundAssumptions& assumptions) {
  const Restore place(at_, b);
  assumptions_ = &assumptions;
  steps_ = depth_ = 0;
  open_.clear();
  matching_.clear();
  combining_.clear();
  why_ = {};
  if (!e.valid()) return unknown("no-integer");
  const ValueBound known = bound(e, kind);
  if (!known.isKnown() && why_.empty()) why_ = "unknown";
  return known;
}

ValueBound ValueBounds::unknown(std::string_view why) {
  if (why_.empty()) why_ = why;
  return {};
}

ValueBound ValueBounds::bound(ExprId e, NumberKind kind) {
  if (++steps_ > kMostSteps || depth_ > kMostDepth) return unknown("too-large");
  const Expr n = e_[e];
  if (n.kind == ExprKind::Constant) {
    // Beyond what bounds can be: as a signed number it would be another one, below all others.
    if (kind == NumberKind::Unsigned && n.constant > static_cast<uint64_t>(kMost)) return unknown("wraps");
    const int64_t number =
        kind == NumberKind::Unsigned ? static_cast<int64_t>(n.constant) : signedAt(n.constant, n.width);
    return number < -kMost || number > kMost ? unknown("wraps") : exact(terms_.constant(number));
  }
  ++depth_;
  // What all threads have alike has one number; what conditions say of it would make an interval of it.
  if (isUniform(e, 0)) {
    const ValueBound uniform = within(structural(e), n.width, kind);
    --depth_;
    return uniform;
  }
  ValueBound result;
  const ValueBound below = kind == NumberKind::Signed ? ValueBound() : fromFacts(e, false);
  const ValueBound sided = below.most.valid() ? ValueBound() : fromFacts(e, true);
  if (below.most.valid()) {
    result = {below.least.valid() ? below.least : terms_.constant(0), below.most};
  } else if (sided.least.valid() || sided.most.valid()) {
    result = sided;
    if (!sided.isKnown()) {
      const ValueBound rest = within(structural(e), n.width, NumberKind::Signed);
      if (!result.least.valid()) result.least = rest.least;
      if (!result.most.valid()) result.most = rest.most;
    }
    // What a signed number is at most says nothing of the unsigned one, unless it is not negative.
    if (kind == NumberKind::Unsigned && !(result.isKnown() && assumptions_->assume(result.least, 0, std::nullopt)))
      result = unknown("negative");
  } else if (const ValueBound other = kind == NumberKind::Signed ? fromFacts(e, false) : ValueBound();
             other.most.valid()) {
    result = within({other.least.valid() ? other.least : terms_.constant(0), other.most}, n.width, kind);
  } else if (kind == NumberKind::Unsigned && n.kind == ExprKind::Value &&
             evolution_.constantDefinition(n.reg(), n.value()).valid()) {
    result = within(ofValue(n), n.width, kind);
  } else {
    result = within(structural(e), n.width, kind);
  }
  --depth_;
  return result;
}

// Whether it is made of parameters and sizes of the launch alone.
bool ValueBounds::isUniform(ExprId e, unsigned depth) const {
  constexpr unsigned kMostUniformDepth = 12;
  if (depth > kMostUniformDepth) return false;
  const Expr& n = e_[e];
  switch (n.kind) {
    case ExprKind::Constant: return true;
    case ExprKind::Value: {
      const InstrId id = evolution_.constantDefinition(n.reg(), n.value());
      if (!id.valid()) return false;
      if (module_.form(f_[id]).op == Op::Ld) return true;
      const Operand& o = f_.operandsOf(f_[id])[1];
      const auto size =
          o.kind == OperandKind::SpecialRegister ? launchSizeOf(module_.text(NameId(o.payload))) : std::nullopt;
      return size && !size->isPlace;
    }
    case ExprKind::Sum:
    case ExprKind::Product:
      return std::ranges::all_of(e_.terms(e), [&](const ExprTerm& t) { return isUniform(t.expr, depth + 1); });
    case ExprKind::SignExtend:
    case ExprKind::ZeroExtend:
    case ExprKind::Truncate: return isUniform(n.operand(), depth + 1);
    default: return false;
  }
}

// The signed or unsigned number of what any number with these bounds is modulo two to the width.
ValueBound ValueBounds::within(const ValueBound& any, unsigned width, NumberKind kind) {
  if (kind == NumberKind::Any) return any;
  if (!any.isKnown()) return {};
  const auto [least, most] = numbersOf(width, kind == NumberKind::Signed);
  if (!assumptions_->assume(any.least, least, std::nullopt) || !assumptions_->assume(any.most, std::nullopt, most))
    return unknown("wraps");
  return any;
}

ValueBound ValueBounds::structural(ExprId e) {
  if (const ValueBound known = matched(e); known.isKnown()) return known;
  const Expr n = e_[e];
  switch (n.kind) {
    case ExprKind::Constant: return exact(terms_.constant(signedAt(n.constant, n.width)));
    case ExprKind::Value: return ofValue(n);
    case ExprKind::Sum: return ofSum(e);
    case ExprKind::Product: return ofProduct(e);
    case ExprKind::SignExtend: return bound(n.operand(), NumberKind::Signed);
    case ExprKind::ZeroExtend: return bound(n.operand(), NumberKind::Unsigned);
    case ExprKind::Truncate: return ofTruncation(e);
    case ExprKind::UnsignedMin:
    case ExprKind::UnsignedMax:
    case ExprKind::SignedMin:
    case ExprKind::SignedMax: return ofMinMax(n);
    case ExprKind::UnsignedDivide:
    case ExprKind::UnsignedRemainder: {
      const ValueBound a = bound(n.left(), NumberKind::Unsigned), b = bound(n.right(), NumberKind::Unsigned);
      return ofQuotient(a, b, n.kind == ExprKind::UnsignedRemainder);
    }
    case ExprKind::Recurrence: return ofRecurrence(e);
  }
  return {};
}

ValueBound ValueBounds::add(const ValueBound& a, const ValueBound& b) {
  return {terms_.add(a.least, b.least), terms_.add(a.most, b.most)};
}

ValueBound ValueBounds::scale(const ValueBound& a, int64_t factor) {
  const auto times = [&](TermId t) { return t.valid() ? terms_.scale(t, factor) : t; };
  return factor >= 0 ? ValueBound{times(a.least), times(a.most)} : ValueBound{times(a.most), times(a.least)};
}

ValueBound ValueBounds::multiply(ValueBound a, ValueBound b) {
  if (!a.isKnown() || !b.isKnown()) return {};
  int sign = 1;
  for (ValueBound* x : {&a, &b}) {
    if (x->isExact() && terms_.isConstant(x->least)) return scale(x == &a ? b : a, *terms_.number(x->least) * sign);
    if (isNeverNegative(x->least)) continue;
    if (assumptions_->range(x->most).most <= 0) {
      *x = scale(*x, -1);
      sign = -sign;
    } else if (!assumptions_->assume(x->least, 0, std::nullopt)) {
      return unknown("sign");
    }
  }
  return scale({terms_.multiply(a.least, b.least), terms_.multiply(a.most, b.most)}, sign);
}

ValueBound ValueBounds::join(const ValueBound& a, const ValueBound& b) {
  return {terms_.minMax(TermKind::Min, a.least, b.least), terms_.minMax(TermKind::Max, a.most, b.most)};
}

ValueBound ValueBounds::ofSum(ExprId e) {
  ValueBound all = exact(terms_.constant(signedAt(e_[e].constant, e_[e].width)));
  const std::vector<ExprTerm> terms(e_.terms(e).begin(), e_.terms(e).end());
  for (const ExprTerm& t : terms) {
    const ValueBound part = bound(t.expr, NumberKind::Any);
    if (!part.least.valid() && !part.most.valid()) return {};
    all = add(all, scale(part, signedAt(t.factor, e_[e].width)));
  }
  return all;
}

ValueBound ValueBounds::ofProduct(ExprId e) {
  ValueBound all = exact(terms_.constant(1));
  const std::vector<ExprTerm> terms(e_.terms(e).begin(), e_.terms(e).end());
  for (const ExprTerm& t : terms) {
    all = multiply(all, bound(t.expr, NumberKind::Any));
    if (!all.isKnown()) return {};
  }
  return all;
}

ValueBound ValueBounds::ofTruncation(ExprId e) {
  const Expr n = e_[e];
  if (n.width >= 32) return bound(n.operand(), NumberKind::Any);
  const ValueBound all = bound(n.operand(), NumberKind::Any);
  const auto [least, most] = numbersOf(n.width, false);
  if (all.isKnown() && isNeverNegative(all.least) && assumptions_->range(all.most).most <= most) return all;
  if (all.isExact()) return exact(terms_.mask(all.least, most));
  return {terms_.constant(0), terms_.constant(most)};
}

ValueBound ValueBounds::ofMinMax(const Expr& n) {
  const bool isSigned = n.kind == ExprKind::SignedMin || n.kind == ExprKind::SignedMax;
  const bool isMin = n.kind == ExprKind::SignedMin || n.kind == ExprKind::UnsignedMin;
  const NumberKind kind = isSigned ? NumberKind::Signed : NumberKind::Unsigned;
  const ValueBound a = bound(n.left(), kind), b = bound(n.right(), kind);
  const TermKind term = isMin ? TermKind::Min : TermKind::Max;
  ValueBound all{terms_.minMax(term, a.least, b.least), terms_.minMax(term, a.most, b.most)};
  // One side is known where one operand is.
  if (isMin && !all.most.valid()) all.most = a.most.valid() ? a.most : b.most;
  if (!isMin && !all.least.valid()) all.least = a.least.valid() ? a.least : b.least;
  const auto [least, most] = numbersOf(n.width, isSigned);
  if (n.width < 62 && !isSigned && !all.least.valid()) all.least = terms_.constant(least);
  return all;
}

// The quotient of what is not negative by what is not 0.
ValueBound ValueBounds::ofQuotient(const ValueBound& a, const ValueBound& b, bool isRemainder) {
  if (!b.isKnown() || !assumptions_->assume(b.least, 1, std::nullopt)) return unknown("divisor");
  if (a.least.valid() && !assumptions_->assume(a.least, 0, std::nullopt)) return unknown("sign");
  const auto divisor = b.isExact() ? terms_.number(b.least) : std::nullopt;
  const TermId zero = terms_.constant(0);
  if (isRemainder) {
    if (!a.least.valid()) return {};
    if (a.most.valid() && divisor && assumptions_->range(a.most).most < *divisor) return a;
    return {zero, terms_.addConstant(b.most, -1)};
  }
  if (!a.isKnown()) return {};
  const auto least = terms_.number(b.least);
  if (!least) return {zero, a.most};
  const auto bits = static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(*least)) - 1);
  const TermId most = terms_.shiftRight(a.most, bits);
  const bool isShift = divisor && std::has_single_bit(static_cast<uint64_t>(*divisor));
  return {isShift ? terms_.shiftRight(a.least, bits) : zero, most};
}

ValueBound ValueBounds::ofRecurrence(ExprId e) {
  const Expr n = e_[e];
  const ValueBound start = bound(n.start(), NumberKind::Any);
  ValueBound step = bound(n.step(), NumberKind::Any);
  if (!start.isKnown() || !step.isKnown()) return {};
  const TermId most = iterations(n.loop);
  if (!most.valid()) return unknown("trip-count");
  const ValueBound moved = multiply(step, {terms_.constant(0), most});
  if (!moved.isKnown()) return {};
  return add(start, moved);
}

}  // namespace ptxopt
