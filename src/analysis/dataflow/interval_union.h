// Live ranges that share one register, or one register class: what is taken where.
//
// Segments of all ranges put in, ordered by their start; they do not overlap each other. Queries tell with which of
// them a range would collide. Cost: logarithmic for each segment.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analysis/dataflow/live_range.h"

namespace ptxopt {

class IntervalUnion {
 public:
  bool empty() const { return segments_.empty(); }

  // Puts in the segments of a range, which must not overlap what is there.
  void unify(RegId r, const LiveRange& range) {
    for (const Segment& s : range.segments()) segments_.emplace(s.start, Entry{s.end, r});
  }
  // Takes them out again.
  void extract(RegId r, const LiveRange& range) {
    for (const Segment& s : range.segments())
      if (const auto at = segments_.find(s.start); at != segments_.end() && at->second.reg == r)
        segments_.erase(at);
  }
  // Follows numbers that moved; moves are ascending by `from`.
  void moved(const std::vector<SlotIndexes::Move>& moves) {
    if (moves.empty()) return;
    const auto follow = [&](SlotIndex i) {
      const auto m = std::lower_bound(moves.begin(), moves.end(), i.base(),
                                      [](const SlotIndexes::Move& x, SlotIndex s) { return x.from < s; });
      return m != moves.end() && m->from == i.base() ? m->to.at(i.slot()) : i;
    };
    // Their order stays, but keys may pass the old place of a neighbour: all are taken out first.
    auto first = segments_.lower_bound(moves.front().from);
    if (first != segments_.begin()) --first;
    const auto last = segments_.upper_bound(moves.back().from.dead());
    std::vector<std::pair<SlotIndex, Entry>> touched(first, last);
    auto hint = segments_.erase(first, last);
    for (auto t = touched.rbegin(); t != touched.rend(); ++t)
      hint = segments_.emplace_hint(hint, follow(t->first), Entry{follow(t->second.end), t->second.reg});
  }
  // The register that is there at `i`; none when it is free.
  RegId at(SlotIndex i) const {
    auto after = segments_.upper_bound(i);
    if (after == segments_.begin()) return {};
    --after;
    return i < after->second.end ? after->second.reg : RegId();
  }
  // The registers that a range overlaps, each once, in the order of the places.
  std::vector<RegId> interferences(const LiveRange& range) const {
    std::vector<RegId> found;
    for (const Segment& s : range.segments()) {
      auto e = segments_.upper_bound(s.start);
      if (e != segments_.begin() && std::prev(e)->second.end > s.start) --e;
      for (; e != segments_.end() && e->first < s.end; ++e) {
        bool known = false;
        for (const RegId r : found) known = known || r == e->second.reg;
        if (!known) found.push_back(e->second.reg);
      }
    }
    return found;
  }
  bool interferes(const LiveRange& range) const {
    for (const Segment& s : range.segments()) {
      auto e = segments_.upper_bound(s.start);
      if (e != segments_.begin() && std::prev(e)->second.end > s.start) return true;
      if (e != segments_.end() && e->first < s.end) return true;
    }
    return false;
  }

 private:
  struct Entry {
    SlotIndex end;
    RegId reg;
  };
  std::map<SlotIndex, Entry> segments_;
};

}  // namespace ptxopt
