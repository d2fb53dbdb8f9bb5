// JoinedRange against a map from every place to the root that is there.
#include "passes/coalescing/joined_range.h"

#include <map>
#include <random>

#include "support.h"

using namespace ptxopt;

namespace {

constexpr uint32_t kNothing = UINT32_MAX;

// A range and what it should be.
struct Both {
  JoinedRange range;
  std::map<uint32_t, uint32_t> roots;

  bool conflicts(const Both& other) const {
    for (const auto& [place, root] : roots)
      if (const auto at = other.roots.find(place); at != other.roots.end() && at->second != root) return true;
    return false;
  }
  uint32_t at(uint32_t place) const {
    const auto found = roots.find(place);
    return found != roots.end() ? found->second : kNothing;
  }
};

// What is wrong with the range, in words: order, pieces that touch with one root, places.
std::string wrong(const Both& b, uint32_t places) {
  SlotIndex end(0);
  uint32_t last = kNothing;
  std::size_t pieces = 0;
  std::string error;
  b.range.forEach([&](const JoinedRange::Piece& p) {
    if (p.start >= p.end) error = "an empty piece";
    if (pieces != 0 && p.start < end) error = "pieces overlap";
    if (pieces != 0 && p.start == end && p.root == last) error = "pieces of one root touch";
    end = p.end;
    last = p.root;
    ++pieces;
  });
  if (pieces != b.range.size() || b.range.empty() != b.roots.empty()) error = "size";
  for (uint32_t i = 0; i < places && error.empty(); ++i)
    if (b.range.rootAt(SlotIndex(i)) != b.at(i)) error = "place " + std::to_string(i);
  return error;
}

// At `place` the root is drawn from few, mostly that of the place, so that ranges often agree.
Both random(std::mt19937_64& r, uint32_t places, uint32_t gap, uint32_t length, bool agrees) {
  Both b;
  for (uint32_t i = static_cast<uint32_t>(r() % gap); i < places;) {
    const uint32_t end = std::min<uint32_t>(places, i + 1 + static_cast<uint32_t>(r() % length));
    const uint32_t root = agrees ? i / 16 : static_cast<uint32_t>(r() % 3);
    // A piece lies within 16 places when all are to agree.
    const uint32_t until = agrees ? std::min(end, (i / 16 + 1) * 16) : end;
    b.range.append({SlotIndex(i), SlotIndex(until), root});
    for (uint32_t k = i; k < until; ++k) b.roots[k] = root;
    i = until + static_cast<uint32_t>(r() % gap);
  }
  return b;
}

void join(Both& a, Both& b) {
  a.range.join(std::move(b.range));
  a.roots.insert(b.roots.begin(), b.roots.end());
  b.roots.clear();
}

}  // namespace

TEST_CASE("JoinedRange: conflicts, joins and look-ups against a map") {
  std::size_t conflicts = 0, joins = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 r(seed);
    CAPTURE(seed);
    const uint32_t places = 1 + static_cast<uint32_t>(r() % 200);
    const bool agrees = seed % 2 == 0;
    std::vector<Both> all;
    for (int k = 0; k < 8; ++k)
      all.push_back(
          random(r, places, 1 + static_cast<uint32_t>(r() % 60), 1 + static_cast<uint32_t>(r() % 20), agrees));
    for (int k = 0; k < 12; ++k) {
      Both &a = all[r() % all.size()], &b = all[r() % all.size()];
      if (&a == &b) continue;
      const bool conflict = a.conflicts(b);
      REQUIRE(a.range.conflicts(b.range) == conflict);
      REQUIRE(b.range.conflicts(a.range) == conflict);
      conflicts += conflict;
      if (conflict) continue;
      ++joins;
      join(a, b);
      REQUIRE(wrong(a, places) == "");
      REQUIRE(wrong(b, places) == "");
    }
  }
  CHECK(conflicts > 1000);
  CHECK(joins > 1000);
}

TEST_CASE("JoinedRange: the tree of a large range says the same as a map" * doctest::test_suite("slow")) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    std::mt19937_64 r(seed);
    CAPTURE(seed);
    const uint32_t places = 12000;
    Both large = random(r, places, 6, 10, true);
    std::size_t conflicts = 0, joins = 0, most = large.range.size();
    for (int k = 0; k < 60; ++k) {
      // Small ones, some of which disagree, and now and then another large one.
      Both other = k % 10 == 9 ? random(r, places, 6, 10, true)
                               : random(r, places, 1 + static_cast<uint32_t>(r() % 3000), 12, k % 3 != 0);
      const bool conflict = large.conflicts(other);
      REQUIRE(large.range.conflicts(other.range) == conflict);
      REQUIRE(other.range.conflicts(large.range) == conflict);
      conflicts += conflict;
      if (conflict) continue;
      ++joins;
      if (k % 2 == 0) {
        join(large, other);
      } else {
        join(other, large);
        std::swap(large.range, other.range);
        std::swap(large.roots, other.roots);
      }
      REQUIRE(wrong(large, places) == "");
      most = std::max(most, large.range.size());
    }
    CHECK(most >= 512);
    CHECK(conflicts > 5);
    CHECK(joins > 20);
  }
}

TEST_CASE("JoinedRange: ends are not inside, starts are") {
  JoinedRange a, b;
  a.append({SlotIndex(4), SlotIndex(8), 1});
  b.append({SlotIndex(8), SlotIndex(9), 2});
  CHECK_FALSE(a.conflicts(b));
  CHECK(a.rootAt(SlotIndex(3)) == kNothing);
  CHECK(a.rootAt(SlotIndex(4)) == 1);
  CHECK(a.rootAt(SlotIndex(8)) == kNothing);
  a.join(std::move(b));
  CHECK(a.size() == 2);
  CHECK(a.rootAt(SlotIndex(8)) == 2);
  CHECK(b.empty());
  a.append({SlotIndex(9), SlotIndex(12), 2});
  CHECK(a.size() == 2);
}

TEST_CASE("JoinedRange: a tree whose gaps were filled is one piece, and keeps it when it is joined to two") {
  const auto pieces = [](uint32_t first, uint32_t count) {
    JoinedRange range;
    for (uint32_t k = 0; k < count; ++k) range.append({SlotIndex(first + 8 * k), SlotIndex(first + 8 * k + 4), 1});
    return range;
  };
  JoinedRange large = pieces(0, 2000), two = pieces(100'000, 2);
  large.join(pieces(4, 2000));
  CHECK(large.size() == 1);
  two.join(std::move(large));
  CHECK(two.size() == 3);
  CHECK(two.rootAt(SlotIndex(0)) == 1);
  CHECK(two.rootAt(SlotIndex(15'999)) == 1);
  CHECK(two.rootAt(SlotIndex(16'000)) == kNothing);
  CHECK(two.rootAt(SlotIndex(100'000)) == 1);
}
