// What an expression costs to compute, and which numbers are wide products: a part of expander.h.
#include <bit>
#include <utility>

#include "passes/util/expander.h"

namespace ptxopt {
namespace {

constexpr unsigned kMostExpressionDepth = 12;

}  // namespace

unsigned Expander::cost(ExprId e, const ExpansionPlace& place, unsigned depth) {
  const Expr n = e_[e];
  if (depth > kMostExpressionDepth || (n.width != 32 && n.width != 64)) {
    const Holder* h = holderAt(e, place);
    return h != nullptr ? 0 : kImpossible;
  }
  if (n.kind == ExprKind::Constant) return 0;
  if (holderAt(e, place) != nullptr) return 0;
  if (nearAt(e, place) != nullptr) return n.width / 32;
  const auto sum = [&](unsigned a, unsigned b) {
    return a == kImpossible || b == kImpossible ? kImpossible : a + b;
  };
  switch (n.kind) {
    case ExprKind::Value:
      return !n.varies && evolution_.constantDefinition(n.reg(), n.value()).valid() ? 1 : kImpossible;
    case ExprKind::Sum: return costOfSum(e, place, depth);
    case ExprKind::Product: {
      unsigned all = 0;
      for (uint32_t k = 0; k < n.termCount; ++k) {
        const ExprId factor = e_.terms(e)[k].expr;
        all = sum(all, sum(cost(factor, place, depth + 1), n.width == 64 ? 4 : 1));
      }
      return all;
    }
    case ExprKind::SignExtend:
    case ExprKind::ZeroExtend:
      return e_[n.operand()].width == 32 && n.width == 64 ? sum(cost(n.operand(), place, depth + 1), 1)
                                                          : kImpossible;
    case ExprKind::Truncate:
      return e_[n.operand()].width == 64 && n.width == 32 ? cost(n.operand(), place, depth + 1) : kImpossible;
    case ExprKind::Recurrence: return costOfRecurrence(e, place, depth);
    default: return kImpossible;
  }
}

unsigned Expander::costOfRecurrence(ExprId e, const ExpansionPlace& place, unsigned depth) {
  const auto made = ofCounter(e, place);
  if (!made) return kImpossible;
  const unsigned rest = cost(made->rest, place, depth + 1), width = e_[e].width;
  if (rest == kImpossible) return kImpossible;
  return rest + (e_[made->counter].width != width ? 1 : made->factor == 1 ? 0 : 4) + (width / 32);
}

std::optional<WideProduct> wideProduct(ScalarEvolution& evolution, ExprId e, uint64_t factor) {
  ScevExpressions& all = evolution.expressions();
  const int64_t scale = signedAt(factor, 64);
  const auto isExtension = [&](ExprId x) {
    return (all[x].kind == ExprKind::SignExtend || all[x].kind == ExprKind::ZeroExtend) &&
           all[all[x].operand()].width == 32;
  };
  const auto canBeSigned = [&](ExprId x) {
    return all[x].kind == ExprKind::SignExtend || evolution.range(all[x].operand()).isNeverNegative();
  };
  if (all[e].width != 64 || !fitsSigned32(scale)) return std::nullopt;
  WideProduct p;
  if (isExtension(e)) {
    p.left = all[e].operand();
    p.constant = scale;
    p.isSigned = canBeSigned(e);
    return p.isSigned || scale > 0 ? std::optional(p) : std::nullopt;
  }
  const Expr product = all[e];
  if (product.kind != ExprKind::Product || product.termCount != 2) return std::nullopt;
  ExprId x = all.terms(e)[0].expr, y = all.terms(e)[1].expr;
  if (!isExtension(x) || !isExtension(y)) return std::nullopt;
  p.isSigned = canBeSigned(x) && canBeSigned(y);
  if (!p.isSigned && (all[x].kind != ExprKind::ZeroExtend || all[y].kind != ExprKind::ZeroExtend || scale <= 0))
    return std::nullopt;
  // One of them takes the constant, if it stays within 32 bits.
  const IntegerRange c = IntegerRange::constant(32, factor);
  for (int k = 0; k < 2; ++k, std::swap(x, y)) {
    const IntegerRange r = evolution.range(all[y].operand());
    if (scale != 1 && !(p.isSigned ? mulNeverWrapsSigned(r, c) : mulNeverWrapsUnsigned(r, c))) continue;
    p.left = all[x].operand();
    p.right = all.scale(all[y].operand(), factor);
    return p;
  }
  return std::nullopt;
}

// A term that is worth a mul.wide; an extension alone is not.
std::optional<WideProduct> Expander::wideTerm(const Expr& sum, const ExprTerm& t) const {
  if (sum.width != 64 || (t.factor == 1 && e_[t.expr].kind != ExprKind::Product)) return std::nullopt;
  return wideProduct(evolution_, t.expr, t.factor);
}

bool Expander::endsWide(ExprId e) const {
  const Expr n = e_[e];
  if (n.kind != ExprKind::Sum || (n.termCount == 1 && n.constant != 0)) return false;
  for (uint32_t k = 0; k < n.termCount; ++k)
    if (wideTerm(n, e_.terms(e)[k])) return true;
  return false;
}

unsigned Expander::costOf(const WideProduct& w, const ExpansionPlace& place, unsigned depth) {
  const unsigned left = cost(w.left, place, depth + 1);
  const unsigned right = w.right.valid() ? cost(w.right, place, depth + 1) : 0;
  return left == kImpossible || right == kImpossible ? kImpossible : left + right + 1;
}

unsigned Expander::costOfSum(ExprId e, const ExpansionPlace& place, unsigned depth) {
  const Expr n = e_[e];
  unsigned all = n.constant != 0 ? n.width / 32 : 0;
  bool isFirst = true;
  for (uint32_t k = 0; k < n.termCount; ++k) {
    const ExprTerm t = e_.terms(e)[k];
    const auto wide = wideTerm(n, t);
    const unsigned inner = wide ? costOf(*wide, place, depth) : cost(t.expr, place, depth + 1);
    if (inner == kImpossible) return kImpossible;
    all += inner;
    if (wide) continue;
    if (t.factor != 1) all += std::has_single_bit(t.factor) || n.width == 32 ? n.width / 32 : 4;
    if (!isFirst) all += n.width / 32;
    isFirst = false;
  }
  return all;
}

unsigned Expander::costAnew(ExprId e, const ExpansionPlace& place) {
  return e_[e].kind == ExprKind::Sum ? costOfSum(e, place, 0) : kImpossible;
}

}  // namespace ptxopt
