// Live ranges and interval unions under random changes, against arrays with one entry a slot.
#include "analysis/dataflow/live_range.h"

#include <array>
#include <map>
#include <random>
#include <set>

#include "analysis/dataflow/interval_union.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

constexpr uint32_t kSlots = 72;
constexpr int kNothing = -1;
using Model = std::array<int, kSlots>;

Model nothing() {
  Model m;
  m.fill(kNothing);
  return m;
}
SlotIndex at(uint32_t raw) { return SlotIndex(raw); }

// The range says what the model says, in as few segments as can be.
void check(const LiveRange& range, const Model& model) {
  CAPTURE(range.toString());
  std::size_t pieces = 0;
  for (uint32_t i = 0; i < kSlots; ++i) {
    const int expected = model[i];
    const ValueId value = range.valueAt(at(i));
    if (range.isLiveAt(at(i)) != (expected != kNothing)) FAIL("live at " << i);
    if ((value.valid() ? static_cast<int>(value.value) : kNothing) != expected) FAIL("value at " << i);
    pieces += expected != kNothing && (i == 0 || model[i - 1] != expected);
    // An instruction's last read: its Block slot is live, and the segment ends before the next one's.
    const uint32_t base = i & ~3u;
    bool killed = model[base] != kNothing;
    for (uint32_t k = base; k < base + 4 && killed; ++k)
      if (model[k] != model[base])
        break;
      else if (k == base + 3)
        killed = false;
    if (range.isKilledAt(at(i)) != killed) FAIL("killed at " << i);
  }
  REQUIRE(range.segments().size() == pieces);
  if (pieces > 0) {
    uint32_t first = 0, last = kSlots;
    while (model[first] == kNothing) ++first;
    while (model[last - 1] == kNothing) --last;
    CHECK((range.start() == at(first)));
    CHECK((range.end() == at(last)));
  }
}

struct Random {
  explicit Random(uint64_t seed) : engine(seed) {}
  std::mt19937_64 engine;
  uint32_t operator()(uint32_t n) { return static_cast<uint32_t>(engine() % n); }
};

struct Pair {
  LiveRange range;
  Model model = nothing();

  void add(uint32_t start, uint32_t end, ValueId v) {
    range.addSegment({at(start), at(end), v});
    for (uint32_t i = start; i < end; ++i) model[i] = static_cast<int>(v.value);
  }
};

// A few values, each where nothing is yet or where it is itself.
Pair randomRange(Random& random, uint32_t values, uint32_t segments) {
  Pair p;
  for (uint32_t v = 0; v < values; ++v) p.range.addValue({at(v * 4 + 2)});
  for (uint32_t n = 0; n < segments; ++n) {
    const uint32_t start = random(kSlots), end = std::min(kSlots, start + random(12));
    const ValueId v(random(values));
    bool fits = true;
    for (uint32_t i = start; i < end; ++i)
      fits = fits && (p.model[i] == kNothing || p.model[i] == static_cast<int>(v.value));
    if (fits) p.add(start, end, v);
  }
  return p;
}

void forget(const LiveRange& range, const Model& model) {
  // Values without segments are unused.
  for (std::size_t v = 0; v < range.values().size(); ++v)
    if (std::count(model.begin(), model.end(), static_cast<int>(v)) == 0)
      CHECK(range[ValueId(v)].kind == ValueKind::Unused);
}

}  // namespace

TEST_CASE("live range: changes, against an array of slots") {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Pair p = randomRange(random, 4, 10);
    check(p.range, p.model);
    for (int step = 0; step < 12; ++step) {
      const uint32_t i = random(kSlots), j = std::min(kSlots, i + random(10));
      switch (random(4)) {
        case 0: {  // takes out what lies inside one segment; else nothing
          const bool inside =
              i < j && p.model[i] != kNothing &&
              std::all_of(p.model.begin() + i, p.model.begin() + j, [&](int v) { return v == p.model[i]; });
          const int old = p.model[i];
          p.range.removeSegment(at(i), at(j));
          if (inside) {
            std::fill(p.model.begin() + i, p.model.begin() + j, kNothing);
            if (std::count(p.model.begin(), p.model.end(), old) == 0)
              CHECK(p.range[ValueId(static_cast<uint32_t>(old))].kind == ValueKind::Unused);
          }
          break;
        }
        case 1: {  // the last value in [start, use) is live until the use
          const uint32_t use = j;
          if (use == i) break;
          uint32_t last = use;
          while (last > i && p.model[last - 1] == kNothing) --last;
          const ValueId v = p.range.extendInBlock(at(i), at(use));
          CHECK(v.valid() == (last > i));
          if (last > i) {
            CHECK(static_cast<int>(v.value) == p.model[last - 1]);
            for (uint32_t k = last; k < use; ++k) p.model[k] = p.model[last - 1];
          }
          break;
        }
        case 2: {
          const uint32_t from = random(4), to = random(4);
          p.range.mergeValues(ValueId(from), ValueId(to));
          if (from != to) {
            std::replace(p.model.begin(), p.model.end(), static_cast<int>(from), static_cast<int>(to));
            CHECK(p.range[ValueId(from)].kind == ValueKind::Unused);
          }
          break;
        }
        default: {
          const ValueId v(random(4));
          bool fits = true;
          for (uint32_t k = i; k < j; ++k)
            fits = fits && (p.model[k] == kNothing || p.model[k] == static_cast<int>(v.value));
          if (fits) p.add(i, j, v);
        }
      }
      check(p.range, p.model);
    }
  }
}

TEST_CASE("live range: append") {
  LiveRange range;
  const ValueId a = range.addValue({at(2)}), b = range.addValue({at(10)});
  range.append({at(2), at(4), a});
  range.append({at(4), at(8), a});
  range.append({at(10), at(12), b});
  range.append({at(12), at(13), a});
  CHECK(range.toString() == "[0r,8B:0) [8r,12B:1) [12B,12e:0) 0@0r 1@8r");
}

TEST_CASE("live range: overlaps and the first conflict") {
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Pair a = randomRange(random, 3, 4), b = randomRange(random, 3, 4);
    uint32_t first = kSlots;
    bool overlap = false;
    const auto same = [](ValueId x, ValueId y) { return (x.value + y.value) % 3 == 0; };
    for (uint32_t i = kSlots; i-- > 0;) {
      if (a.model[i] == kNothing || b.model[i] == kNothing) continue;
      overlap = true;
      if (!same(ValueId(static_cast<uint32_t>(a.model[i])), ValueId(static_cast<uint32_t>(b.model[i])))) first = i;
    }
    CHECK(a.range.overlaps(b.range) == overlap);
    CHECK(b.range.overlaps(a.range) == overlap);
    CHECK((a.range.firstConflict(b.range, same) == (first == kSlots ? SlotIndex() : at(first))));
    const uint32_t i = random(kSlots), j = i + random(kSlots - i);
    CHECK(a.range.overlaps(at(i), at(j)) ==
          std::any_of(a.model.begin() + i, a.model.begin() + j, [](int v) { return v != kNothing; }));
  }
}

TEST_CASE("live range: join") {
  std::size_t joined = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Pair a = randomRange(random, 3, 4);
    const Pair b = randomRange(random, 3, 4);
    // Some values of b become values of a, where they do not meet others.
    std::vector<ValueId> valueOf(random(4));
    for (ValueId& v : valueOf)
      if (random(2) == 0) v = ValueId(random(3));
    std::map<int, int> mapped;
    uint32_t next = 3;
    for (uint32_t v = 0; v < 3; ++v) {
      const bool given = v < valueOf.size() && valueOf[v].valid();
      mapped[static_cast<int>(v)] = static_cast<int>(given ? valueOf[v].value : next++);
    }
    Model expected = a.model;
    bool fits = true;
    for (uint32_t i = 0; i < kSlots; ++i) {
      if (b.model[i] == kNothing) continue;
      const int v = mapped[b.model[i]];
      fits = fits && (a.model[i] == kNothing || a.model[i] == v);
      expected[i] = v;
    }
    if (!fits) continue;
    ++joined;
    a.range.join(b.range, valueOf);
    check(a.range, expected);
  }
  CHECK(joined > 100);
}

TEST_CASE("live range: split") {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Pair p = randomRange(random, 5, 10);
    const uint32_t mask = random(32);
    const auto goes = [&](ValueId v) { return ((mask >> v.value) & 1u) != 0; };
    const Model before = p.model;
    LiveRange into;
    p.range.split(into, goes);
    Model stays = nothing(), gone = nothing();
    std::map<int, int> mapped;  // in the order of appearance
    for (uint32_t i = 0; i < kSlots; ++i) {
      if (before[i] == kNothing) continue;
      if (!goes(ValueId(static_cast<uint32_t>(before[i]))))
        stays[i] = before[i];
      else
        gone[i] = mapped.emplace(before[i], static_cast<int>(mapped.size())).first->second;
    }
    check(p.range, stays);
    check(into, gone);
    forget(p.range, stays);
    CHECK(into.values().size() == mapped.size());
    for (const auto& [old, now] : mapped)
      CHECK((into[ValueId(static_cast<uint32_t>(now))].def == at(static_cast<uint32_t>(old) * 4 + 2)));
    // Back together it is what it was.
    std::vector<ValueId> back(mapped.size());
    for (const auto& [old, now] : mapped) {
      back[static_cast<std::size_t>(now)] = ValueId(static_cast<uint32_t>(old));
    }
    p.range.join(into, back);
    check(p.range, before);
  }
}

TEST_CASE("live range: values in the order of their definitions") {
  LiveRange range;
  const ValueId a = range.addValue({at(42)}), b = range.addValue({at(2)}), c = range.addValue({at(22)});
  range.addSegment({at(42), at(44), a});
  range.addSegment({at(2), at(9), b});
  range.addSegment({at(22), at(23), c});
  range.mergeValues(c, b);
  range.renumberValues();
  CHECK(range.toString() == "[0r,8e:0) [20r,20d:0) [40r,44B:1) 0@0r 1@40r");
}

TEST_CASE("live range: verify finds what is wrong") {
  LiveRange range;
  CHECK(range.verify() == "");
  const ValueId a = range.addValue({at(2)});
  CHECK(range.verify() != "");  // a value that is live nowhere
  range.append({at(2), at(6), a});
  CHECK(range.verify() == "");
  range.append({at(10), at(12), a});  // begins with nothing
  CHECK(range.verify() != "");
  LiveRange overlapping;
  const ValueId b = overlapping.addValue({at(2)}), c = overlapping.addValue({at(6)});
  overlapping.append({at(2), at(8), b});
  overlapping.append({at(6), at(9), c});
  CHECK(overlapping.verify() != "");
  LiveRange phi;  // a phi may be live in the block before in the text, too
  const ValueId d = phi.addValue({at(8), ValueKind::Phi, false});
  phi.append({at(4), at(12), d});
  CHECK(phi.verify() == "");
}

TEST_CASE("live range: follows numbers that moved") {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    // Segments begin and end at numbers only some of which move, and order stays.
    std::map<uint32_t, uint32_t> to;
    uint32_t next = 0;
    for (uint32_t n = 0; n < kSlots / 4 + 1; ++n) {
      next = std::max(next, n * 40);
      to[n * 40] = next;
      next = next + 4 + 4 * random(20);
    }
    std::vector<SlotIndexes::Move> moves;
    for (const auto& [from, where] : to)
      if (from != where) moves.push_back({at(from), at(where)});
    const auto wide = [](SlotIndex i) { return at(i.base().raw() * 10 + i.slot()); };
    const auto follow = [&](SlotIndex i) { return at(to.at(i.base().raw()) + i.slot()); };
    const Pair p = randomRange(random, 3, 8);
    LiveRange range, expected;
    IntervalUnion together;
    for (const LiveValue& v : p.range.values()) {
      range.addValue({wide(v.def), v.kind, v.isPartial});
      expected.addValue({v.def, v.kind, v.isPartial});
    }
    for (const Segment& s : p.range.segments()) {
      range.append({wide(s.start), wide(s.end), s.value});
      expected.append({follow(wide(s.start)), follow(wide(s.end)), s.value});
    }
    together.unify(RegId(7u), range);
    range.moved(moves);
    CHECK(range.segments() == expected.segments());
    together.moved(moves);
    together.extract(RegId(7u), expected);
    CHECK(together.empty());
  }
}

TEST_CASE("interval union: against an array of slots") {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    IntervalUnion all;
    Model owner = nothing();
    std::map<uint32_t, Pair> in;
    for (int step = 0; step < 25; ++step) {
      const uint32_t reg = random(8);
      if (const auto known = in.find(reg); known != in.end()) {
        all.extract(RegId(reg), known->second.range);
        std::replace(owner.begin(), owner.end(), static_cast<int>(reg), kNothing);
        in.erase(known);
      } else {
        Pair p = randomRange(random, 2, 1 + random(3));
        // Those met, in the order of the places.
        std::vector<RegId> expected;
        for (uint32_t i = 0; i < kSlots; ++i) {
          if (p.model[i] == kNothing || owner[i] == kNothing) continue;
          const RegId other(static_cast<uint32_t>(owner[i]));
          if (std::count(expected.begin(), expected.end(), other) == 0) expected.push_back(other);
        }
        CHECK(all.interferences(p.range) == expected);
        CHECK(all.interferes(p.range) == !expected.empty());
        if (!expected.empty()) continue;
        all.unify(RegId(reg), p.range);
        for (uint32_t i = 0; i < kSlots; ++i)
          if (p.model[i] != kNothing) owner[i] = static_cast<int>(reg);
        in.emplace(reg, std::move(p));
      }
      for (uint32_t i = 0; i < kSlots; ++i)
        if ((all.at(at(i)).valid() ? static_cast<int>(all.at(at(i)).value) : kNothing) != owner[i])
          FAIL("at " << i);
      CHECK(all.empty() == std::all_of(owner.begin(), owner.end(), [](int r) { return r == kNothing; }));
    }
  }
}
