// The range of each summand is what value ranges and scalar evolution both allow. Bytes that accesses may reach only
// grow; intervals that touch are joined.
#include "passes/memory/indexed_reach.h"

#include <algorithm>

namespace ptxopt {
namespace {

// What an addend may be, where it is added.
IntegerRange rangeOf(const IndexedAccess::Addend& addend, Analyses& analyses) {
  const ValueId v = analyses.liveIntervals()[addend.index].valueIn(analyses.slotIndexes()[addend.at]);
  if (!v.valid()) return {};
  const IntegerRange range = analyses.valueRanges().at(addend.index, v, analyses.cfg().blockOf(addend.at));
  const ExprId e = analyses.scalarEvolution().read(addend.index, addend.at);
  if (!e.valid()) return range;
  const IntegerRange counted = analyses.scalarEvolution().range(e);
  if (counted.width() != range.width()) return range;
  const IntegerRange both = range.meet(counted);
  return both.isEmpty() ? range : both;
}

}  // namespace

IndexedReach::Bytes IndexedReach::bytesOf(const IndexedAccess& access, Analyses& analyses) const {
  const auto size = static_cast<int64_t>(addresses_.bytesOf(access.variable));
  const Bytes all{0, size};
  constexpr int64_t kFar = int64_t{1} << 40;  // sums of such numbers do not wrap
  Bytes bytes{access.offset, access.offset + access.bytes};
  if (access.offset < -kFar || access.offset > kFar) return all;
  for (const IndexedAccess::Addend& addend : access.addends) {
    const IntegerRange range = rangeOf(addend, analyses);
    if (range.width() != 64 || range.smallest() < -kFar || range.largest() > kFar) return all;
    bytes.begin += range.smallest();
    bytes.end += range.largest();
    if (bytes.begin < -kFar || bytes.end > kFar) return all;
  }
  return {std::clamp<int64_t>(bytes.begin, 0, size), std::clamp<int64_t>(bytes.end, 0, size)};
}

bool IndexedReach::touches(VariableId v, int64_t begin, int64_t end) const {
  return std::ranges::any_of(reached_[v.value], [&](const Bytes& r) { return begin < r.end && r.begin < end; });
}

// Whether the bytes are not all known; joined with those that they meet.
bool IndexedReach::add(VariableId v, Bytes bytes) {
  std::vector<Bytes>& known = reached_[v.value];
  if (bytes.begin >= bytes.end ||
      std::ranges::any_of(known, [&](const Bytes& r) { return r.begin <= bytes.begin && bytes.end <= r.end; }))
    return false;
  std::erase_if(known, [&](const Bytes& r) {
    if (bytes.begin > r.end || r.begin > bytes.end) return false;
    bytes = {std::min(bytes.begin, r.begin), std::max(bytes.end, r.end)};
    return true;
  });
  known.push_back(bytes);
  return true;
}

bool IndexedReach::isOpen(VariableId v) const {
  const auto size = static_cast<int64_t>(addresses_.bytesOf(v));
  return addresses_.whyPinned(v).empty() &&
         std::ranges::none_of(reached_[v.value], [&](const Bytes& r) { return r.begin <= 0 && size <= r.end; });
}

bool IndexedReach::widen(const Function& f) {
  if (std::ranges::none_of(addresses_.indexed(), [&](const IndexedAccess& a) { return isOpen(a.variable); }))
    return false;
  Analyses analyses(context_.module, f, livenessLimits(context_.knobs));
  if (!analyses.cfg().complete() || !analyses.mayHaveLiveIntervals()) return takeAll();
  bool any = false;
  for (const IndexedAccess& a : addresses_.indexed())
    if (isOpen(a.variable)) any |= add(a.variable, bytesOf(a, analyses));
  return any;
}

bool IndexedReach::takeAll() {
  bool any = false;
  for (const IndexedAccess& a : addresses_.indexed())
    if (isOpen(a.variable)) any |= add(a.variable, {0, static_cast<int64_t>(addresses_.bytesOf(a.variable))});
  return any;
}

}  // namespace ptxopt
