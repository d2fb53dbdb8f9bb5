// Values come in the order in which they begin. Slots that are free are kept sorted by weight for each parity, and
// groups of vector accesses are placed as one; the estimate stops when `enough` slots are open.
#include "analysis/machine/fat_point.h"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <utility>

namespace ptxopt {
namespace {

using Span = AllocatedValue::Span;
constexpr uint32_t kSlots = 255;
constexpr uint32_t kMostInGroup = 4;

// What lives in one slot: spans apart from each other, ascending.
class Slot {
 public:
  // At how many points something is live that is in one of `spans`. Counts on only until `enough`. All of `spans` are at
  // `now` or after it, which no later question is before.
  uint64_t overlap(std::span<const Span> spans, uint64_t enough, uint32_t now) {
    uint64_t points = 0;
    // Values come in the order in which they begin: most are after all that is here.
    if (spans_.empty() || spans_.back().last < spans.front().first) return 0;
    while (spans_[past_].last < now) ++past_;
    auto at = spans_.begin() + past_;
    for (const Span& s : spans) {
      at =
          std::lower_bound(at, spans_.end(), s.first, [](const Span& a, uint32_t first) { return a.last < first; });
      for (auto t = at; t != spans_.end() && t->first <= s.last; ++t) {
        points += std::min(t->last, s.last) - std::max(t->first, s.first) + 1;
        if (points >= enough) return points;
      }
    }
    return points;
  }
  void add(std::span<const Span> spans) {
    const bool isAfter = spans_.empty() || spans_.back().last < spans.front().first;
    if (!isAfter && spans.size() == 1 && addBetween(spans.front())) return;
    for (const Span& s : spans) {
      length_ += s.last - s.first + 1;
      spans_.push_back(s);
    }
    if (!isAfter) tidy();
  }
  // The point after the span that `now` lies in; 0 if there is none.
  uint32_t endAt(uint32_t now) {
    if (spans_.empty() || spans_.back().last < now) return 0;
    while (spans_[past_].last < now) ++past_;
    return spans_[past_].first <= now ? spans_[past_].last + 1 : 0;
  }
  uint64_t length() const { return length_; }
  const Span& back() const { return spans_.back(); }

 private:
  // Whether it stands apart from what is there, as all do but those of spilled values.
  bool addBetween(const Span& s) {
    const auto next = std::ranges::lower_bound(spans_, s.first, {}, &Span::first);
    if ((next != spans_.end() && next->first <= s.last) || (next != spans_.begin() && s.first <= next[-1].last))
      return false;
    length_ += s.last - s.first + 1;
    spans_.insert(next, s);
    return true;
  }
  void tidy() {
    std::ranges::sort(spans_, {}, &Span::first);
    // Spilled values overlap what is there.
    std::size_t kept = 0;
    for (std::size_t i = 1; i < spans_.size(); ++i)
      if (spans_[i].first <= spans_[kept].last)
        spans_[kept].last = std::max(spans_[kept].last, spans_[i].last);
      else
        spans_[++kept] = spans_[i];
    spans_.resize(kept + 1);
    past_ = 0;
  }

  std::vector<Span> spans_;
  std::ptrdiff_t past_ = 0;  // that many of the first ended before what was asked last
  uint64_t length_ = 0;
};

class Placer {
 public:
  Placer(const Function& f, const PressurePoints& points, const AllocatedValues& allocated)
      : f_(f), values_(allocated.values), valueOf_(allocated.valueOf), group_(values_.size()) {
    findGroups(points);
  }

  FatPointResult run(uint32_t enough) {
    result_.slot.assign(values_.size(), FatPointResult::kNone);
    for (uint32_t v = 0; v < values_.size() && opened_ < enough; ++v) {
      if (result_.slot[v] != FatPointResult::kNone) continue;
      come(values_[v].spans.front().first);
      if (group_[v].empty())
        place(std::array{v});
      else
        place(group_[v]);
    }
    return std::move(result_);
  }

 private:
  // The elements of a vector access stand side by side. A value is in the first such group that it occurs in, if
  // all the others are in none yet. Also: the other registers that are read with one, for their parity.
  void findGroups(const PressurePoints& points) {
    partner_.assign(values_.size(), FatPointResult::kNone);
    for (std::size_t p = 0; p < points.size(); ++p) {
      if (!points[p].instruction.valid()) continue;
      const auto operands = f_.operandsOf(f_[points[p].instruction]);
      const bool hasMemory =
          std::ranges::any_of(operands, [](const Operand& o) { return o.kind == OperandKind::Memory; });
      std::array<uint32_t, 3> read{};
      std::size_t reads = 0;
      for (std::size_t at = 0; at < operands.size(); ++at) {
        const Operand& o = operands[at];
        if (hasMemory && o.kind == OperandKind::Vector) group(operands.subspan(at + 1, o.inside()));
        if (o.isRegister() && o.reads() && valueOf_[o.payload] != FatPointResult::kNone && reads < read.size())
          read[reads++] = valueOf_[o.payload];
      }
      if (hasMemory || reads < 2) continue;
      for (std::size_t i = 0; i < reads; ++i)
        if (partner_[read[i]] == FatPointResult::kNone) partner_[read[i]] = read[(i + 1) % reads];
    }
  }

  void group(std::span<const Operand> elements) {
    std::vector<uint32_t> members;
    uint32_t units = 0;
    for (const Operand& o : elements) {
      if (!o.isRegister()) return;
      const uint32_t v = valueOf_[o.payload];
      if (v == FatPointResult::kNone || !group_[v].empty() || std::ranges::find(members, v) != members.end())
        return;
      members.push_back(v);
      units += unitsOf(v);
    }
    if (members.size() < 2 || units > kMostInGroup) return;
    for (const uint32_t v : members) group_[v] = members;
  }

  uint32_t unitsOf(uint32_t v) const { return std::max(values_[v].size.units, 1u); }

  struct Weight {
    uint64_t hard = 0, soft = 0;
    bool operator<(const Weight& o) const { return hard != o.hard ? hard < o.hard : soft < o.soft; }
  };

  // What it would weigh to put the members from slot `at` on.
  Weight weigh(std::span<const uint32_t> members, uint32_t at, uint64_t enough) {
    Weight w;
    for (const uint32_t v : members) {
      const uint32_t other = partner_[v];
      if (other != FatPointResult::kNone && result_.slot[other] != FatPointResult::kNone &&
          result_.slot[other] % 2 == at % 2)
        w.soft += kParityWeight;
      for (uint32_t u = 0; u < unitsOf(v); ++u, ++at) {
        if (at >= opened_) continue;
        w.hard += slots_[at].overlap(values_[v].spans, enough, now_);
        w.soft += slots_[at].length();
        if (w.hard >= enough) return w;
      }
    }
    return w;
  }

  bool isFree(std::span<const uint32_t> members, uint32_t at) {
    for (const uint32_t v : members)
      for (uint32_t u = 0; u < unitsOf(v); ++u, ++at)
        if (at < opened_ && !isFreeFor(values_[v].spans, at)) return false;
    return true;
  }

  // Whether nothing in the slot is live that is in one of `spans`.
  bool isFreeFor(std::span<const Span> spans, uint32_t at) {
    return held_[at].end <= spans.front().first || slots_[at].overlap(spans, 1, now_) == 0;
  }

  // The old slot with the least soft weight among those that are free.
  uint32_t freeSlot(std::span<const uint32_t> members, uint32_t units, uint32_t step) {
    uint32_t best = FatPointResult::kNone;
    uint64_t least = UINT64_MAX;
    if (members.size() == 1 && units == 1) return freeSlot(members.front());
    if (members.size() == 1 && units == 2) return freePair(members.front());
    for (uint32_t at = 0; at + units <= opened_; at += step) {
      const uint64_t soft = softWeight(members, at);
      if (soft >= least || !isFree(members, at)) continue;
      least = soft;
      best = at;
    }
    return best;
  }

  // The same for a value of two units, whose slots begin at even numbers.
  uint32_t freePair(uint32_t v) {
    uint32_t best = FatPointResult::kNone;
    uint64_t least = UINT64_MAX;
    for (uint32_t at = 0; at + 1 < opened_; at += 2) {
      const uint64_t soft = held_[at].length + held_[at + 1].length;
      if (held_[at].isTaken() || held_[at + 1].isTaken() || soft >= least) continue;
      if (!isFreeNow(v, at) || !isFreeNow(v, at + 1)) continue;
      least = soft;
      best = at;
    }
    return best;
  }

  // Whether a slot that is not known to be taken is free for a value that begins now. Notes in `found_` that it is taken.
  bool isFreeNow(uint32_t v, uint32_t at) {
    if (held_[at].end <= now_) return true;
    if (slots_[at].endAt(now_) == 0) return slots_[at].overlap(values_[v].spans, 1, now_) == 0;
    found_.push_back(at);
    return false;
  }

  // For old slots.
  uint64_t softWeight(std::span<const uint32_t> members, uint32_t at) const {
    uint64_t soft = 0;
    for (const uint32_t v : members) {
      const uint32_t other = partner_[v];
      if (other != FatPointResult::kNone && result_.slot[other] != FatPointResult::kNone &&
          result_.slot[other] % 2 == at % 2)
        soft += kParityWeight;
      for (uint32_t u = 0; u < unitsOf(v); ++u, ++at) soft += held_[at].length;
    }
    return soft;
  }

  // The same for a value of one unit, as most are.
  uint32_t freeSlot(uint32_t v) {
    const uint32_t other = partner_[v] == FatPointResult::kNone ? FatPointResult::kNone : result_.slot[partner_[v]];
    uint64_t parity[] = {0, 0};  // by the lowest bit of the slot
    if (other != FatPointResult::kNone) parity[other % 2] = kParityWeight;
    // The even and the odd ones together in the order of their soft weights: the first that is free.
    auto even = order_[0].begin(), odd = order_[1].begin();
    while (even != order_[0].end() || odd != order_[1].end()) {
      const bool isEven = odd == order_[1].end() ||
                          (even != order_[0].end() && std::pair(held_[*even].length + parity[0], *even) <
                                                          std::pair(held_[*odd].length + parity[1], *odd));
      const uint32_t at = isEven ? *even++ : *odd++;
      if (isFreeNow(v, at)) return at;
    }
    return FatPointResult::kNone;
  }

  // Values come in the order in which they begin: the next one does at this point.
  void come(uint32_t point) {
    now_ = point;
    for (; !ends_.empty() && ends_.top().first <= now_; ends_.pop()) {
      const uint32_t at = ends_.top().second;
      if (!held_[at].isTaken() || held_[at].takenUntil > now_) continue;
      held_[at].takenUntil = 0;
      rank(at);
    }
  }

  // Takes a slot out of the order as long as what it holds at `now_` lives.
  void take(uint32_t at) {
    unrank(at);
    held_[at].takenUntil = slots_[at].endAt(now_);
    ends_.emplace(held_[at].takenUntil, at);
  }

  // What the slot holds changed.
  void update(uint32_t at) {
    if (!held_[at].isTaken()) unrank(at);
    held_[at] = {slots_[at].length(), slots_[at].back().last + 1, slots_[at].endAt(now_)};
    if (held_[at].isTaken())
      ends_.emplace(held_[at].takenUntil, at);
    else
      rank(at);
  }

  // Puts a slot that is not taken into its place in the order of its parity, where it does not stand.
  void rank(uint32_t at) { order_[at % 2].insert(placeOf(at), at); }
  // Takes it from there, before what it holds changes.
  void unrank(uint32_t at) { order_[at % 2].erase(placeOf(at)); }
  std::vector<uint32_t>::iterator placeOf(uint32_t at) {
    const auto isBefore = [&](uint32_t a, uint32_t b) {
      return held_[a].length != held_[b].length ? held_[a].length < held_[b].length : a < b;
    };
    return std::ranges::lower_bound(order_[at % 2], at, isBefore);
  }

  // The slot with the least weight where none is free.
  uint32_t leastHeld(std::span<const uint32_t> members, uint32_t units, uint32_t step, uint32_t openedUp) {
    uint32_t best = FatPointResult::kNone;
    Weight least{UINT64_MAX, UINT64_MAX};
    const auto consider = [&](uint32_t at) {
      const Weight w = weigh(members, at, std::max<uint64_t>(least.hard, 1));
      if (!(w < least)) return;
      least = w;
      best = at;
    };
    for (uint32_t at = 0; at + units <= opened_; at += step) consider(at);
    for (uint32_t at = opened_ / step * step; at <= openedUp && at + units <= kSlots; at += step) consider(at);
    return best;
  }

  void place(std::span<const uint32_t> members) {
    uint32_t units = 0;
    for (const uint32_t v : members) units += unitsOf(v);
    const uint32_t step = units > 2 ? 4 : units;
    const uint32_t openedUp = (opened_ + step - 1) / step * step;
    uint32_t best = freeSlot(members, units, step);
    for (const uint32_t at : found_) take(at);
    found_.clear();
    // New slots only if no old ones are free; those that are old in part first.
    for (uint32_t at = opened_ / step * step;
         best == FatPointResult::kNone && at <= openedUp && at + units <= kSlots; at += step)
      if (isFree(members, at)) best = at;
    if (best == FatPointResult::kNone) {
      best = leastHeld(members, units, step, openedUp);
      ++result_.spilled;
    }
    if (best == FatPointResult::kNone) best = 0;  // wider than all slots together: cannot be
    for (; opened_ < best + units; ++opened_) rank(opened_);
    result_.slots = opened_;
    for (uint32_t at = best; const uint32_t v : members) {
      result_.slot[v] = at;
      for (uint32_t u = 0; u < unitsOf(v); ++u, ++at) {
        slots_[at].add(values_[v].spans);
        update(at);
      }
    }
  }

  static constexpr uint64_t kParityWeight = 16;  // as much as this many points in the slot

  const Function& f_;
  const std::vector<AllocatedValue>& values_;
  const std::vector<uint32_t>& valueOf_;      // by register
  std::vector<std::vector<uint32_t>> group_;  // by value
  std::vector<uint32_t> partner_;             // by value: one that is read together with it
  // For a slot, which most questions are about.
  struct Held {
    uint64_t length = 0;
    uint32_t end = 0;
    uint32_t takenUntil = 0;  // nothing that begins before finds room; 0: that is not known
    bool isTaken() const { return takenUntil != 0; }
  };
  std::array<Slot, kSlots + kMostInGroup> slots_;
  std::array<Held, kSlots + kMostInGroup> held_;
  // The opened slots that are not taken, by parity, those with the least in them first.
  std::array<std::vector<uint32_t>, 2> order_;
  using End = std::pair<uint32_t, uint32_t>;  // of a slot's last span, and the slot
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<uint32_t> found_;
  uint32_t now_ = 0;
  uint32_t opened_ = 0;
  FatPointResult result_;
};

}  // namespace

FatPointResult placeValues(const Function& function, const PressurePoints& points, const AllocatedValues& values,
                           uint32_t enough) {
  return Placer(function, points, values).run(enough);
}

}  // namespace ptxopt
