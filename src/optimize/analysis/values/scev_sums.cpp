// Sums and products of scalar evolution in their canonical form: see scev_expressions.h.
#include <algorithm>
#include <utility>

#include "analysis/values/scev_expressions.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostDistributed = 8;  // terms of a sum that a product is multiplied out over

// By expression. Mostly they are a few that come in order.
void sortTerms(std::vector<ExprTerm>& terms) {
  constexpr std::size_t kFew = 16;
  const auto isBefore = [](const ExprTerm& a, const ExprTerm& b) { return a.expr < b.expr; };
  if (terms.size() > kFew) return std::sort(terms.begin(), terms.end(), isBefore);
  for (std::size_t k = 1; k < terms.size(); ++k)
    for (std::size_t to = k; to != 0 && isBefore(terms[to], terms[to - 1]); --to)
      std::swap(terms[to], terms[to - 1]);
}

}  // namespace

// Adds `factor` times `e` to a sum that is being made.
void ScevExpressions::takeApart(ExprId e, uint64_t factor, uint64_t& constant, std::vector<ExprTerm>& terms) const {
  const Expr& n = (*this)[e];
  if (n.kind == ExprKind::Constant) {
    constant += factor * n.constant;
  } else if (n.kind == ExprKind::Sum) {
    constant += factor * n.constant;
    for (const ExprTerm& t : this->terms(e)) terms.push_back({t.expr, t.factor * factor});
  } else {
    terms.push_back({e, factor});
  }
}

// The canonical form of a constant and terms that are not sums. Uses up `terms`.
ExprId ScevExpressions::sum(unsigned width, uint64_t constant, std::vector<ExprTerm>& terms) {
  sortTerms(terms);
  std::size_t kept = 0;
  for (std::size_t k = 0; k < terms.size();) {
    ExprTerm t = terms[k];
    for (++k; k < terms.size() && terms[k].expr == t.expr; ++k) t.factor += terms[k].factor;
    t.factor = maskTo(t.factor, width);
    if (t.factor != 0) terms[kept++] = t;
  }
  terms.resize(kept);

  // The deepest recurrence takes up everything that does not vary in its loop; the constant stays outside where
  // something is left that does, so that sums in any order come to one form.
  LoopId deepest;
  for (const ExprTerm& t : terms) {
    const Expr& n = (*this)[t.expr];
    if (n.kind != ExprKind::Recurrence) continue;
    const uint32_t depth = loops_[n.loop].depth, most = deepest.valid() ? loops_[deepest].depth : 0;
    if (depth > most || (depth == most && n.loop < deepest)) deepest = n.loop;
  }
  if (deepest.valid()) {
    std::vector<ExprTerm> starts, steps, others;
    uint64_t startConstant = 0, stepConstant = 0;
    std::size_t taken = 0;
    bool isPlain = true;  // what is taken is one recurrence as it is
    for (const ExprTerm& t : terms) {
      if (isRecurrence(t.expr, deepest)) {
        isPlain &= t.factor == 1;
        takeApart((*this)[t.expr].start(), t.factor, startConstant, starts);
        takeApart((*this)[t.expr].step(), t.factor, stepConstant, steps);
      } else if (isInvariant(t.expr, deepest)) {
        starts.push_back(t);
      } else {
        others.push_back(t);
        continue;
      }
      ++taken;
    }
    isPlain &= taken == 1;
    if (others.empty()) {
      if (!isPlain || maskTo(constant, width) != 0) {
        const ExprId start = sum(width, constant + startConstant, starts);
        return recurrence(deepest, start, sum(width, stepConstant, steps));
      }
    } else {
      const ExprId start = sum(width, startConstant, starts);
      const ExprId all = recurrence(deepest, start, sum(width, stepConstant, steps));
      const uint64_t part = constantPart(all);
      if (!isPlain || part != 0) {
        takeApart(withoutConstant(all), 1, constant, others);
        return sum(width, constant + part, others);
      }
    }
  }
  constant = maskTo(constant, width);
  if (terms.empty()) return this->constant(constant, width);
  if (terms.size() == 1 && constant == 0 && terms[0].factor == 1) return terms[0].expr;
  Expr n;
  n.kind = ExprKind::Sum;
  n.width = static_cast<uint8_t>(width);
  n.constant = constant;
  return intern(n, terms);
}

ExprId ScevExpressions::add(ExprId a, ExprId b) {
  std::vector<ExprTerm> terms = std::exchange(scratch_, {});
  terms.clear();
  uint64_t constant = 0;
  takeApart(a, 1, constant, terms);
  takeApart(b, 1, constant, terms);
  const ExprId e = sum((*this)[a].width, constant, terms);
  scratch_ = std::move(terms);
  return e;
}

ExprId ScevExpressions::addConstant(ExprId a, uint64_t c) {
  const unsigned width = (*this)[a].width;
  if (maskTo(c, width) == 0) return a;
  std::vector<ExprTerm> terms = std::exchange(scratch_, {});
  terms.clear();
  uint64_t constant = c;
  takeApart(a, 1, constant, terms);
  const ExprId e = sum(width, constant, terms);
  scratch_ = std::move(terms);
  return e;
}

ExprId ScevExpressions::scale(ExprId a, uint64_t factor) {
  const unsigned width = (*this)[a].width;
  if (maskTo(factor, width) == 1) return a;
  std::vector<ExprTerm> terms = std::exchange(scratch_, {});
  terms.clear();
  uint64_t constant = 0;
  takeApart(a, factor, constant, terms);
  const ExprId e = sum(width, constant, terms);
  scratch_ = std::move(terms);
  return e;
}

ExprId ScevExpressions::multiply(ExprId a, ExprId b) {
  if (isConstant(a)) std::swap(a, b);
  if (isConstant(b)) return scale(a, (*this)[b].constant);
  const unsigned width = (*this)[a].width;
  // A recurrence times what does not vary in its loop is one.
  for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
    const Expr n = (*this)[x];
    if (n.kind == ExprKind::Recurrence && isInvariant(y, n.loop)) {
      const ExprId start = multiply(n.start(), y);
      return recurrence(n.loop, start, multiply(n.step(), y));
    }
  }
  for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
    const Expr n = (*this)[x];
    if (n.kind != ExprKind::Sum || n.termCount > kMostDistributed) continue;
    ExprId all = scale(y, n.constant);
    for (uint32_t k = 0; k < n.termCount; ++k) {
      const ExprTerm t = terms_[n.firstTerm + k];
      all = add(all, scale(multiply(t.expr, y), t.factor));
    }
    return all;
  }
  std::vector<ExprTerm> factors;
  for (const ExprId x : {a, b}) {
    if ((*this)[x].kind == ExprKind::Product)
      for (const ExprTerm& t : terms(x)) factors.push_back(t);
    else
      factors.push_back({x, 1});
  }
  std::ranges::sort(factors, {}, [](const ExprTerm& t) { return t.expr.value; });
  Expr n;
  n.kind = ExprKind::Product;
  n.width = static_cast<uint8_t>(width);
  return intern(n, factors);
}

uint64_t ScevExpressions::constantPart(ExprId e) const {
  const Expr* n = &(*this)[e];
  while (n->kind == ExprKind::Recurrence) n = &(*this)[n->start()];
  return n->kind == ExprKind::Constant || n->kind == ExprKind::Sum ? n->constant : 0;
}

bool ScevExpressions::differByConstant(ExprId a, ExprId b, uint64_t& difference) {
  const uint64_t ca = constantPart(a), cb = constantPart(b);
  if (addConstant(a, cb - ca) != b) return false;
  difference = maskTo(ca - cb, (*this)[a].width);
  return true;
}

}  // namespace ptxopt
