#include "analysis/dataflow/live_range.h"

#include <fmt/format.h>

#include <algorithm>

namespace ptxopt {

std::string toString(SlotIndex i) {
  if (!i.valid()) return "?";
  return fmt::format("{}{}", i.base().raw(), "Berd"[i.slot()]);
}

// ---- queries ----

std::pmr::vector<Segment>::iterator LiveRange::firstEndingAfter(SlotIndex i) {
  return std::upper_bound(segments_.begin(), segments_.end(), i,
                          [](SlotIndex x, const Segment& s) { return x < s.end; });
}
std::pmr::vector<Segment>::const_iterator LiveRange::firstEndingAfter(SlotIndex i) const {
  return const_cast<LiveRange*>(this)->firstEndingAfter(i);
}

// As firstEndingAfter, without branches: which half it is in cannot be foretold.
const Segment* LiveRange::search(SlotIndex i) const {
  const Segment* first = segments_.data();
  std::size_t n = segments_.size();
  if (n == 0) return nullptr;
  while (n > 1) {
    const std::size_t half = n / 2;
    first += first[half - 1].end <= i ? half : 0;
    n -= half;
  }
  return first->contains(i) ? first : nullptr;
}

bool LiveRange::isKilledAt(SlotIndex i) const {
  const Segment* s = find(i.base());
  return s != nullptr && s->end.sameInstruction(i);
}

bool LiveRange::overlaps(const LiveRange& other) const {
  return firstConflict(other, [](ValueId, ValueId) { return false; }).valid();
}

bool LiveRange::overlaps(SlotIndex start, SlotIndex end) const {
  const auto s = firstEndingAfter(start);
  return start < end && s != segments_.end() && s->start < end;
}

// ---- changes ----

ValueId LiveRange::addValue(const LiveValue& v) {
  values_.push_back(v);
  return ValueId(values_.size() - 1);
}

void LiveRange::append(Segment s) {
  if (!segments_.empty() && segments_.back().end == s.start && segments_.back().value == s.value)
    segments_.back().end = s.end;
  else
    segments_.push_back(s);
}

void LiveRange::addSegment(Segment s) {
  if (s.start >= s.end) return;
  // The first that s touches, and after the last.
  auto first = std::lower_bound(segments_.begin(), segments_.end(), s.start,
                                [](const Segment& x, SlotIndex i) { return x.end < i; });
  if (first != segments_.end() && first->end == s.start && first->value != s.value) ++first;
  auto last = first;
  while (last != segments_.end() && (last->start < s.end || (last->start == s.end && last->value == s.value))) {
    s.start = std::min(s.start, last->start);
    s.end = std::max(s.end, last->end);
    ++last;
  }
  if (first == last) {
    segments_.insert(first, s);
    return;
  }
  *first = s;
  segments_.erase(first + 1, last);
}

void LiveRange::removeSegment(SlotIndex start, SlotIndex end) {
  const auto s = firstEndingAfter(start);
  if (start >= end || s == segments_.end() || s->start > start || s->end < end) return;
  const Segment old = *s;
  if (old.start == start && old.end == end) {
    segments_.erase(s);
    dropUnused();
  } else if (old.start == start) {
    s->start = end;
  } else if (old.end == end) {
    s->end = start;
  } else {
    s->end = start;
    segments_.insert(s + 1, {end, old.end, old.value});
  }
}

ValueId LiveRange::extendInBlock(SlotIndex blockStart, SlotIndex use) {
  // The last segment that starts before the use.
  auto s = std::lower_bound(segments_.begin(), segments_.end(), use,
                            [](const Segment& x, SlotIndex i) { return x.start < i; });
  if (s == segments_.begin()) return {};
  --s;
  if (s->end <= blockStart) return {};
  if (s->end < use) {
    const Segment grown{s->end, use, s->value};
    addSegment(grown);
    return grown.value;
  }
  return s->value;
}

void LiveRange::join(const LiveRange& other, const std::vector<ValueId>& valueOf) {
  std::vector<ValueId> mapped(other.values_.size());
  for (std::size_t v = 0; v < mapped.size(); ++v)
    mapped[v] = v < valueOf.size() && valueOf[v].valid()     ? valueOf[v]
                : other.values_[v].kind == ValueKind::Unused ? ValueId()
                                                             : addValue(other.values_[v]);
  // One merge of two sorted lists; pieces with the same value run together.
  std::pmr::vector<Segment> merged(segments_.get_allocator());
  merged.reserve(segments_.size() + other.segments_.size());
  const auto add = [&](Segment s) {
    if (!merged.empty() && merged.back().value == s.value && merged.back().end >= s.start)
      merged.back().end = std::max(merged.back().end, s.end);
    else
      merged.push_back(s);
  };
  auto a = segments_.begin();
  auto b = other.segments_.begin();
  while (a != segments_.end() || b != other.segments_.end()) {
    if (b == other.segments_.end() || (a != segments_.end() && a->start <= b->start)) {
      add(*a++);
    } else {
      add({b->start, b->end, mapped[b->value.value]});
      ++b;
    }
  }
  segments_ = std::move(merged);
}

void LiveRange::mergeValues(ValueId from, ValueId to) {
  if (from == to) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    Segment s = segments_[i];
    if (s.value == from) s.value = to;
    if (kept > 0 && segments_[kept - 1].value == s.value && segments_[kept - 1].end >= s.start)
      segments_[kept - 1].end = std::max(segments_[kept - 1].end, s.end);
    else
      segments_[kept++] = s;
  }
  segments_.resize(kept);
  values_[from.value] = {SlotIndex(), ValueKind::Unused, false};
}

void LiveRange::dropUnused() {
  std::vector<bool> used(values_.size());
  for (const Segment& s : segments_) used[s.value.value] = true;
  for (std::size_t v = 0; v < values_.size(); ++v)
    if (!used[v]) values_[v] = {SlotIndex(), ValueKind::Unused, false};
}

void LiveRange::moved(const std::vector<SlotIndexes::Move>& moves) {
  if (moves.empty() || empty() || end() < moves.front().from || start() > moves.back().from.dead()) return;
  const auto follow = [&](SlotIndex& i) {
    const auto m = std::lower_bound(moves.begin(), moves.end(), i.base(),
                                    [](const SlotIndexes::Move& x, SlotIndex s) { return x.from < s; });
    if (m != moves.end() && m->from == i.base()) i = m->to.at(i.slot());
  };
  for (auto s = std::lower_bound(segments_.begin(), segments_.end(), moves.front().from,
                                 [](const Segment&x, SlotIndex i) { return x.end < i; });
       s != segments_.end(); ++s) {
    follow(s->start);
    follow(s->end);
  }
  for (LiveValue& v : values_)
    if (v.def.valid()) follow(v.def);
}

void LiveRange::translate(const SlotIndexes::Translation& now) {
  for (Segment& s : segments_) {
    s.start = now(s.start);
    s.end = now(s.end);
  }
  for (LiveValue& v : values_)
    if (v.def.valid()) v.def = now(v.def);
}

void LiveRange::renumberValues() {
  if (std::is_sorted(values_.begin(), values_.end(),
                     [](const LiveValue& a, const LiveValue& b) { return a.def < b.def; }) &&
      (values_.empty() || values_.back().kind != ValueKind::Unused))
    return;
  std::vector<uint32_t> order;
  for (uint32_t v = 0; v < values_.size(); ++v)
    if (values_[v].kind != ValueKind::Unused) order.push_back(v);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return values_[a].def < values_[b].def; });
  std::vector<ValueId> now(values_.size());
  std::pmr::vector<LiveValue> sorted(values_.get_allocator());
  for (const uint32_t v : order) {
    now[v] = ValueId(sorted.size());
    sorted.push_back(values_[v]);
  }
  for (Segment& s : segments_) s.value = now[s.value.value];
  values_ = std::move(sorted);
}

// ---- looking at it ----

std::string LiveRange::verify() const {
  std::vector<bool> defined(values_.size());
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& s = segments_[i];
    if (s.start >= s.end) return fmt::format("the segment at {} is empty", ptxopt::toString(s.start));
    if (s.value.value >= values_.size() || values_[s.value.value].kind == ValueKind::Unused)
      return fmt::format("the segment at {} has no value", ptxopt::toString(s.start));
    if (i > 0 && segments_[i - 1].end > s.start)
      return fmt::format("segments overlap at {}", ptxopt::toString(s.start));
    if (i > 0 && segments_[i - 1].end == s.start && segments_[i - 1].value == s.value)
      return fmt::format("segments with one value touch at {}", ptxopt::toString(s.start));
    // A phi's segment may begin earlier: where the block before in the text, the end of a loop, holds it as well.
    const LiveValue& value = values_[s.value.value];
    if (value.kind == ValueKind::Instruction ? value.def == s.start : s.contains(value.def))
      defined[s.value.value] = true;
    if (value.def != s.start && s.start.slot() != SlotIndex::Block)
      return fmt::format("the segment at {} begins neither with its value nor with a block",
                         ptxopt::toString(s.start));
  }
  for (std::size_t v = 0; v < values_.size(); ++v)
    if (values_[v].kind != ValueKind::Unused && !defined[v])
      return fmt::format("value {} is not live where it begins, at {}", v, ptxopt::toString(values_[v].def));
  return {};
}

std::string LiveRange::toString() const {
  std::string text;
  for (const Segment& s : segments_)
    text += fmt::format("{}[{},{}:{})", text.empty() ? "" : " ", ptxopt::toString(s.start), ptxopt::toString(s.end),
                        s.value.value);
  for (std::size_t v = 0; v < values_.size(); ++v) {
    const LiveValue& value = values_[v];
    if (value.kind == ValueKind::Unused) continue;
    text += fmt::format("{}{}@{}{}{}", text.empty() ? "" : " ", v, ptxopt::toString(value.def),
                        value.kind == ValueKind::Phi     ? "-phi"
                        : value.kind == ValueKind::Entry ? "-entry"
                                                         : "",
                        value.isPartial ? "-partial" : "");
  }
  return text;
}

}  // namespace ptxopt
