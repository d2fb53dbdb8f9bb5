// --verify-analyses for what answers on demand: each result that was given is asked for again, of an analysis made
// anew.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/values/scalar_evolution.h"
#include "analysis/values/value_range.h"

namespace ptxopt {

bool ValueRanges::answersHold() const {
  ValueRanges anew(module_, f_, cfg_, dominators_, slots_, intervals_);
  for (uint32_t number = 0; number < notes_.size(); ++number) {
    const Value v{numbers_.reg(number), numbers_.value(number)};
    if (notes_[number] != kUnasked && anew.explain(v.reg, v.value) != noted(v)) return false;
  }
  for (const auto& [key, known] : inBlocks_) {
    const auto number = static_cast<uint32_t>(key >> 32);
    if (anew.explainAt(numbers_.reg(number), numbers_.value(number), BlockId(static_cast<uint32_t>(key))) != known)
      return false;
  }
  return true;
}

namespace {

// An expression as text that does not depend on which analysis made it: terms stand in the order of their texts, not of
// their ids, which tell what was asked for first.
class CanonicalText {
 public:
  explicit CanonicalText(const ScevExpressions& expressions) : e_(expressions) {}

  std::string of(ExprId id) const {
    if (!id.valid()) return "none";
    const Expr& n = e_[id];
    std::string out = fmt::format("{}:{}", static_cast<int>(n.kind), n.width);
    switch (n.kind) {
      case ExprKind::Constant: return out + fmt::format("({})", n.constant);
      case ExprKind::Value: return out + fmt::format("({} {})", n.reg().value, n.value().value);
      case ExprKind::Sum:
      case ExprKind::Product: return out + terms(id) + fmt::format("+{}", n.constant);
      case ExprKind::SignExtend:
      case ExprKind::ZeroExtend:
      case ExprKind::Truncate: return out + list({of(n.operand())});
      case ExprKind::UnsignedMin:
      case ExprKind::UnsignedMax:
      case ExprKind::SignedMin:
      case ExprKind::SignedMax: return out + sorted({of(n.left()), of(n.right())});
      case ExprKind::UnsignedDivide:
      case ExprKind::UnsignedRemainder: return out + list({of(n.left()), of(n.right())});
      case ExprKind::Recurrence:
        return out + list({of(n.start()), of(n.step())}) + fmt::format("@{}", n.loop.value);
    }
    return out;
  }

 private:
  static std::string list(const std::vector<std::string>& parts) {
    return fmt::format("({})", fmt::join(parts, ","));
  }
  static std::string sorted(std::vector<std::string> parts) {
    std::ranges::sort(parts);
    return list(parts);
  }
  std::string terms(ExprId id) const {
    std::vector<std::string> parts;
    for (const ExprTerm& t : e_.terms(id)) parts.push_back(fmt::format("{}*{}", t.factor, of(t.expr)));
    return sorted(std::move(parts));
  }

  const ScevExpressions& e_;
};

}  // namespace

// Expressions are asked for in the order in which they were settled: the first of several equal constants stands for all.
bool ScalarEvolution::answersHold() const {
  ScalarEvolution anew(module_, f_, cfg_, dominators_, loops_, slots_, intervals_, ranges_);
  const auto same = [&](ExprId a, ExprId b) { return CanonicalText(e_).of(a) == CanonicalText(anew.e_).of(b); };
  for (uint32_t l = 0; l < trips_.size(); ++l) {
    const TripCount &a = trips_[l], &b = anew.trips_[l];
    if (!same(a.exact, b.exact) || a.most != b.most || a.test != b.test || a.unknown != b.unknown) return false;
  }
  for (const uint32_t key : made_)
    if (memo_[key].valid() && !same(memo_[key], anew.of(ranges_.numbers().reg(key), ranges_.numbers().value(key))))
      return false;
  return true;
}

}  // namespace ptxopt
