// Pieces lie in a sorted vector until there are many, and then in a map; the smaller range is put into the larger.
// Pieces of one root that touch become one.
#include "passes/coalescing/joined_range.h"

#include <algorithm>

namespace ptxopt {

void JoinedRange::append(Piece p) {
  if (!few_.empty() && few_.back().root == p.root && few_.back().end >= p.start)
    few_.back().end = std::max(few_.back().end, p.end);
  else
    few_.push_back(p);
}

uint32_t JoinedRange::rootAt(SlotIndex i) const {
  if (isTree()) {
    auto p = many_.upper_bound(i);
    if (p == many_.begin()) return UINT32_MAX;
    --p;
    return i < p->second.end ? p->second.root : UINT32_MAX;
  }
  const auto p =
      std::upper_bound(few_.begin(), few_.end(), i, [](SlotIndex x, const Piece& piece) { return x < piece.end; });
  return p != few_.end() && p->start <= i ? p->root : UINT32_MAX;
}

bool JoinedRange::conflictsWith(const Piece& p) const {
  if (isTree()) {
    auto q = many_.upper_bound(p.start);
    if (q != many_.begin() && std::prev(q)->second.end > p.start && std::prev(q)->second.root != p.root)
      return true;
    for (; q != many_.end() && q->first < p.end; ++q)
      if (q->second.root != p.root) return true;
    return false;
  }
  auto q = std::upper_bound(few_.begin(), few_.end(), p.start,
                            [](SlotIndex x, const Piece& piece) { return x < piece.end; });
  for (; q != few_.end() && q->start < p.end; ++q)
    if (q->root != p.root) return true;
  return false;
}

bool JoinedRange::conflicts(const JoinedRange& other) const {
  if (size() < other.size()) return other.conflicts(*this);
  if (other.isTree() || other.size() * 8 < size()) {
    bool found = false;
    if (!other.isTree())
      return std::any_of(other.few_.begin(), other.few_.end(), [&](const Piece& p) { return conflictsWith(p); });
    for (auto p = other.many_.begin(); p != other.many_.end() && !found; ++p)
      found = conflictsWith({p->first, p->second.end, p->second.root});
    return found;
  }
  if (isTree())
    return std::any_of(other.few_.begin(), other.few_.end(), [&](const Piece& p) { return conflictsWith(p); });
  auto a = few_.begin();
  auto b = other.few_.begin();
  while (a != few_.end() && b != other.few_.end()) {
    if (a->end <= b->start) {
      ++a;
    } else if (b->end <= a->start) {
      ++b;
    } else {
      if (a->root != b->root) return true;
      if (a->end < b->end)
        ++a;
      else
        ++b;
    }
  }
  return false;
}

void JoinedRange::makeTree() {
  for (const Piece& p : few_) many_.emplace_hint(many_.end(), p.start, Rest{p.end, p.root});
  few_ = {};
}

void JoinedRange::insert(Piece p) {
  auto at = many_.upper_bound(p.start);
  if (at != many_.begin() && std::prev(at)->second.end >= p.start && std::prev(at)->second.root == p.root) --at;
  while (at != many_.end() && at->first <= p.end && at->second.root == p.root) {
    p.start = std::min(p.start, at->first);
    p.end = std::max(p.end, at->second.end);
    at = many_.erase(at);
  }
  many_.emplace_hint(at, p.start, Rest{p.end, p.root});
}

void JoinedRange::join(JoinedRange&& other) {
  if (size() < other.size()) {
    std::swap(few_, other.few_);
    std::swap(many_, other.many_);
  }
  if (!isTree() && !other.isTree() && size() + other.size() < kMany) {
    std::vector<Piece> all;
    all.reserve(few_.size() + other.few_.size());
    std::merge(few_.begin(), few_.end(), other.few_.begin(), other.few_.end(), std::back_inserter(all),
               [](const Piece& a, const Piece& b) { return a.start < b.start; });
    few_.clear();
    for (const Piece& p : all) append(p);
  } else {
    if (!isTree()) makeTree();
    other.forEach([&](const Piece& p) { insert(p); });
  }
  other.few_ = {};
  other.many_.clear();
}

}  // namespace ptxopt
