// Terms are interned by a key of their kind and parts. Ranges are computed in 128 bits, cut off at 2^100, and kept
// until an assumption changes; an assumption that contradicts a range fails.
#include "analysis/addresses/bound_terms.h"

#include <algorithm>
#include <bit>

namespace ptxopt {
namespace {

using Wide = TermRange::Wide;

constexpr Wide kFar = Wide{1} << 100;  // beyond this, ranges are not distinguished
Wide clamp(Wide x) { return std::clamp(x, -kFar, kFar); }

// Products of numbers up to kFar would not fit.
Wide times(Wide a, Wide b) {
  if (a == 0 || b == 0) return 0;
  const auto size = [](Wide x) { return x < 0 ? -x : x; };
  if (size(a) > kFar / size(b)) return (a < 0) == (b < 0) ? kFar : -kFar;
  return a * b;
}

TermRange product(const TermRange& a, const TermRange& b) {
  const auto [least, most] =
      std::minmax({times(a.least, b.least), times(a.least, b.most), times(a.most, b.least), times(a.most, b.most)});
  return {clamp(least), clamp(most)};
}

bool fits(Wide x) { return x >= INT64_MIN && x <= INT64_MAX; }

}  // namespace

TermId BoundTerms::intern(const Term& t, std::vector<TermPart> parts) {
  Key key{t.kind, 0, 0, t.constant, std::move(parts)};
  switch (t.kind) {
    case TermKind::Parameter:
      key.a = uint64_t{t.parameter.index} << 32 | t.parameter.offset;
      key.b = uint64_t{t.parameter.bytes} << 1 | t.parameter.isSigned;
      break;
    case TermKind::Size: key.a = uint64_t{t.size.isGrid} << 8 | t.size.component; break;
    default: key.a = t.left.value, key.b = t.right.value;
  }
  const auto [at, isNew] = known_.try_emplace(std::move(key), TermId(terms_.size()));
  if (!isNew) return at->second;
  Term made = t;
  made.firstPart = static_cast<uint32_t>(parts_.size());
  made.partCount = static_cast<uint32_t>(at->first.parts.size());
  parts_.insert(parts_.end(), at->first.parts.begin(), at->first.parts.end());
  terms_.push_back(made);
  return at->second;
}

TermId BoundTerms::constant(int64_t c) {
  Term t;
  t.constant = c;
  return intern(t);
}

TermId BoundTerms::parameter(const TermParameter& p) {
  Term t;
  t.kind = TermKind::Parameter;
  t.parameter = p;
  return intern(t);
}

TermId BoundTerms::launchSize(const LaunchSize& size) {
  Term t;
  t.kind = TermKind::Size;
  t.size = size;
  return intern(t);
}

TermId BoundTerms::combine(TermId a, int64_t factorOfA, TermId b, int64_t factorOfB) {
  if (!a.valid() || !b.valid()) return {};
  Wide number = 0;
  std::map<TermId, Wide> all;
  for (const auto& [t, factor] : {std::pair(a, factorOfA), std::pair(b, factorOfB)}) {
    const Term& n = terms_[t.value];
    if (n.kind == TermKind::Constant || n.kind == TermKind::Sum) number += times(n.constant, factor);
    if (n.kind == TermKind::Constant) continue;
    if (n.kind != TermKind::Sum) {
      all[t] += factor;
      continue;
    }
    for (const TermPart& p : parts(t)) all[p.term] += times(p.factor, factor);
  }
  std::erase_if(all, [](const auto& p) { return p.second == 0; });
  if (!fits(number) || !std::ranges::all_of(all, [](const auto& p) { return fits(p.second); })) return {};
  if (all.empty()) return constant(static_cast<int64_t>(number));
  if (all.size() == 1 && number == 0 && all.begin()->second == 1) return all.begin()->first;
  Term t;
  t.kind = TermKind::Sum;
  t.constant = static_cast<int64_t>(number);
  std::vector<TermPart> parts;
  for (const auto& [term, factor] : all) parts.push_back({term, static_cast<int64_t>(factor)});
  return intern(t, std::move(parts));
}

TermId BoundTerms::multiply(TermId a, TermId b) {
  if (!a.valid() || !b.valid()) return {};
  if (const auto c = number(a)) return scale(b, *c);
  if (const auto c = number(b)) return scale(a, *c);
  // Sums are multiplied out where one of them is short: then equal products meet.
  for (int k = 0; k < 2; ++k, std::swap(a, b)) {
    const Term n = terms_[a.value];
    if (n.kind != TermKind::Sum || n.partCount > 4) continue;
    TermId all = scale(b, n.constant);
    for (uint32_t p = 0; p < n.partCount && all.valid(); ++p) {
      const TermPart part = parts_[n.firstPart + p];
      all = combine(all, 1, multiply(part.term, b), part.factor);
    }
    return all;
  }
  // Products of more than two stand in one order.
  std::vector<TermId> factors;
  for (TermId t : {a, b}) {
    for (; terms_[t.value].kind == TermKind::Product; t = terms_[t.value].left)
      factors.push_back(terms_[t.value].right);
    factors.push_back(t);
  }
  std::ranges::sort(factors);
  TermId all = factors.front();
  for (std::size_t k = 1; k < factors.size(); ++k) {
    Term t;
    t.kind = TermKind::Product;
    t.left = all;
    t.right = factors[k];
    all = intern(t);
  }
  return all;
}

TermId BoundTerms::minMax(TermKind kind, TermId a, TermId b) {
  if (!a.valid() || !b.valid()) return {};
  const TermId difference = subtract(a, b);
  if (!difference.valid()) return {};
  if (const auto d = number(difference)) return (*d < 0) == (kind == TermKind::Min) ? a : b;
  if (b < a) std::swap(a, b);
  Term t;
  t.kind = kind;
  t.left = a;
  t.right = b;
  return intern(t);
}

TermId BoundTerms::shiftRight(TermId a, unsigned bits) {
  if (!a.valid() || bits == 0) return a;
  if (const auto c = number(a)) return constant(*c >> std::min(bits, 63u));
  Term t;
  t.kind = TermKind::ShiftRight;
  t.left = a;
  t.constant = std::min(bits, 63u);
  return intern(t);
}

TermId BoundTerms::mask(TermId a, int64_t mask) {
  if (!a.valid()) return a;
  if (const auto c = number(a)) return constant(*c & mask);
  Term t;
  t.kind = TermKind::And;
  t.left = a;
  t.constant = mask;
  return intern(t);
}

TermRange BoundAssumptions::range(TermId t) const {
  if (const auto known = ranges_.find(t); known != ranges_.end()) return known->second;
  TermRange r = rangeOf(t);
  if (const auto a = all_.find(t); a != all_.end()) {
    if (a->second.least) r.least = std::max(r.least, Wide{*a->second.least});
    if (a->second.most) r.most = std::min(r.most, Wide{*a->second.most});
  }
  ranges_[t] = r;
  return r;
}

TermRange BoundAssumptions::rangeOf(TermId t) const {
  const Term& n = (*terms_)[t];
  switch (n.kind) {
    case TermKind::Constant: return {n.constant, n.constant};
    case TermKind::Parameter: {
      const Wide count = Wide{1} << (8 * n.parameter.bytes);
      // In 64 bits all numbers are signed.
      if (n.parameter.isSigned || n.parameter.bytes == 8) return {-count / 2, count / 2 - 1};
      return {0, count - 1};
    }
    case TermKind::Size: {
      if (n.size.isGrid) return {1, n.size.component == 0 ? Wide{INT32_MAX} : Wide{65535}};
      return {1, n.size.component == 2 ? 64 : 1024};
    }
    case TermKind::Sum: {
      TermRange all{n.constant, n.constant};
      for (const TermPart& p : terms_->parts(t)) {
        const TermRange part = product(range(p.term), {p.factor, p.factor});
        all = {clamp(all.least + part.least), clamp(all.most + part.most)};
      }
      return all;
    }
    case TermKind::Product: {
      const TermRange r = product(range(n.left), range(n.right));
      return n.left == n.right ? TermRange{std::max(r.least, Wide{0}), r.most} : r;
    }
    case TermKind::Min: {
      const TermRange a = range(n.left), b = range(n.right);
      return {std::min(a.least, b.least), std::min(a.most, b.most)};
    }
    case TermKind::Max: {
      const TermRange a = range(n.left), b = range(n.right);
      return {std::max(a.least, b.least), std::max(a.most, b.most)};
    }
    case TermKind::ShiftRight: {
      const TermRange a = range(n.left);
      return {a.least >> n.constant, a.most >> n.constant};
    }
    case TermKind::And: {
      if (n.constant >= 0) return {0, n.constant};
      const TermRange a = range(n.left);
      return {a.least < 0 ? clamp(a.least + n.constant) : Wide{0}, std::max(a.most, Wide{0})};
    }
  }
  return {-kFar, kFar};
}

bool BoundAssumptions::assume(TermId t, std::optional<int64_t> least, std::optional<int64_t> most) {
  const TermRange known = range(t);
  if (least && known.least >= *least) least.reset();
  if (most && known.most <= *most) most.reset();
  if (!least && !most) return true;
  if ((least && known.most < *least) || (most && known.least > *most)) return false;
  Assumed& a = all_[t];
  if (least) a.least = least;
  if (most) a.most = most;
  ranges_.clear();
  return true;
}

bool BoundAssumptions::add(const BoundAssumptions& others) {
  return std::ranges::all_of(others.all_,
                             [&](const auto& a) { return assume(a.first, a.second.least, a.second.most); });
}

bool BoundAssumptions::assumeTestsFit() {
  // What is assumed for a test is of smaller terms, and tested, too.
  for (std::size_t before = SIZE_MAX; before != all_.size();) {
    before = all_.size();
    std::vector<TermId> tested;
    for (const auto& [t, assumed] : all_) tested.push_back(t);
    if (!std::ranges::all_of(tested, [&](TermId t) { return assumeFits(t); })) return false;
  }
  return true;
}

bool BoundAssumptions::isWithin(const TermRange& r, Wide most) { return r.least >= -most && r.most <= most; }

bool BoundAssumptions::limit(TermId t, Wide most) {
  if (isWithin(range(t), most)) return true;
  // Parameters of 64 bits, pointers among them, that are not negative.
  const int64_t end = static_cast<int64_t>(most) - 1;
  return assume(t, (*terms_)[t].kind == TermKind::Parameter ? 0 : -end, end);
}

bool BoundAssumptions::assumeComparable(TermId t) { return assumeFits(t) && limit(t, kMostNumber); }

bool BoundAssumptions::assumeFits(TermId t) {
  const Term n = (*terms_)[t];
  const auto isSmall = [&](TermId of, Wide most) { return isWithin(range(of), most); };
  // Without what is assumed of the term itself: a test of that evaluates it.
  const auto fits = [&] { return isWithin(rangeOf(t), kMostNumber); };
  switch (n.kind) {
    case TermKind::Constant:
    case TermKind::Size:
    case TermKind::Parameter: return true;
    case TermKind::Sum: {
      for (const TermPart& p : terms_->parts(t))
        if (!assumeFits(p.term)) return false;
      if (fits()) return true;
      const Wide share = kMostNumber / (std::bit_ceil(n.partCount + 1u));
      if (n.constant > share || n.constant < -share) return false;
      for (const TermPart p : terms_->parts(t)) {
        const Wide size = p.factor < 0 ? -Wide{p.factor} : Wide{p.factor};
        if (size > share || !limit(p.term, share / size)) return false;
      }
      break;
    }
    case TermKind::Product:
      if (!assumeFits(n.left) || !assumeFits(n.right)) return false;
      if (fits()) return true;
      if (!isSmall(n.left, Wide{1} << 32) && !limit(n.left, Wide{1} << 31)) return false;
      if (!fits() && !limit(n.right, Wide{1} << 28)) return false;
      break;
    case TermKind::Min:
    case TermKind::Max:
      if (!assumeComparable(n.left) || !assumeComparable(n.right)) return false;
      break;
    case TermKind::ShiftRight:
    case TermKind::And: return assumeFits(n.left);
  }
  return fits();
}

}  // namespace ptxopt
