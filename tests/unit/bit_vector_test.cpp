// BitVector against std::vector<bool>, which knows nothing of words.
#include "support/bit_vector.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>

using namespace ptxopt;

namespace {

using Model = std::vector<bool>;

bool agree(const BitVector& bits, const Model& model) {
  if (bits.size() != model.size()) return false;
  for (std::size_t i = 0; i < model.size(); ++i)
    if (bits.test(i) != model[i]) return false;
  // Bits past the size show in these.
  return bits.count() == static_cast<std::size_t>(std::count(model.begin(), model.end(), true)) &&
         bits.none() == (std::find(model.begin(), model.end(), true) == model.end());
}

// The same set twice, and operations done to both.
struct Pair {
  BitVector bits;
  Model model;

  explicit Pair(std::size_t size) : bits(size), model(size) {}
  void combine(const Model& other, const std::function<bool(bool, bool)>& op) {
    for (std::size_t i = 0; i < model.size(); ++i) model[i] = op(model[i], other[i]);
  }
};

bool opOr(bool a, bool b) { return a || b; }
bool opAnd(bool a, bool b) { return a && b; }
bool opXor(bool a, bool b) { return a != b; }
bool opAndNot(bool a, bool b) { return a && !b; }

constexpr std::size_t kSizes[] = {0,   1,   2,    31,   32,   33,   63,   64,   65,   127,
                                  128, 129, 1000, 1023, 1024, 1025, 1087, 2048, 2113, 5000};

}  // namespace

TEST_CASE("bit vector: behaves as std::vector<bool> under random operations") {
  std::mt19937 random(1);
  std::size_t changes = 0, stays = 0;
  for (const std::size_t size : kSizes) {
    CAPTURE(size);
    std::vector<Pair> sets(4, Pair(size));
    for (int step = 0; step < 200; ++step) {
      CAPTURE(step);
      Pair& a = sets[random() % 4];
      const Pair b = sets[random() % 4], c = sets[random() % 4], d = sets[random() % 4];
      const Model before = a.model;
      const auto told = [&](bool changed) {
        REQUIRE(changed == (a.model != before));
        ++(changed ? changes : stays);
      };
      switch (random() % 15) {
        case 0:
        case 1:
        case 2:
          for (std::size_t n = size == 0 ? 0 : random() % (1 + size / 4); n-- > 0;) {
            const std::size_t i = random() % size;
            a.bits.set(i);
            a.model[i] = true;
          }
          break;
        case 3:
          for (std::size_t n = size == 0 ? 0 : random() % (1 + size / 4); n-- > 0;) {
            const std::size_t i = random() % size;
            a.bits.reset(i);
            a.model[i] = false;
          }
          break;
        case 4:
          a.bits |= b.bits;
          a.combine(b.model, opOr);
          break;
        case 5:
          a.bits &= b.bits;
          a.combine(b.model, opAnd);
          break;
        case 6:
          a.bits ^= b.bits;
          a.combine(b.model, opXor);
          break;
        case 7:
          a.bits.andNot(b.bits);
          a.combine(b.model, opAndNot);
          break;
        case 8:
          a.combine(b.model, opOr);
          told(a.bits.orIfChanged(b.bits));
          REQUIRE_FALSE(a.bits.orIfChanged(b.bits));
          break;
        case 9:
          a.combine(b.model, opAnd);
          told(a.bits.andIfChanged(b.bits));
          REQUIRE_FALSE(a.bits.andIfChanged(b.bits));
          break;
        case 10:
        case 11:
          for (std::size_t i = 0; i < size; ++i)
            a.model[i] = a.model[i] || b.model[i] || (c.model[i] && !d.model[i]);
          if (random() % 4 == 0)
            a.bits.orWithAndNot(b.bits, c.bits, d.bits);
          else
            told(a.bits.orWithAndNotIfChanged(b.bits, c.bits, d.bits));
          break;
        case 12:
          a.bits.complement();
          a.model.flip();
          break;
        case 13:
          if (random() % 4 == 0) {
            a.bits.setAll();
            a.model.assign(size, true);
          }
          break;
        default:
          if (random() % 4 == 0) {
            a.bits.clear();
            a.model.assign(size, false);
          }
      }
      REQUIRE(agree(a.bits, a.model));
      REQUIRE((a.bits == b.bits) == (a.model == b.model));
      bool subset = true, meets = false;
      for (std::size_t i = 0; i < size; ++i) {
        subset = subset && (!a.model[i] || b.model[i]);
        meets = meets || (a.model[i] && b.model[i]);
      }
      REQUIRE(a.bits.isSubsetOf(b.bits) == subset);
      REQUIRE(a.bits.intersects(b.bits) == meets);
    }
  }
  CHECK(changes > 100);
  CHECK(stays > 100);
}

TEST_CASE("bit vector: three ways to list the elements") {
  std::mt19937 random(2);
  for (const std::size_t size : kSizes) {
    CAPTURE(size);
    for (const unsigned percent : {0u, 1u, 10u, 50u, 100u}) {
      BitVector bits(size);
      std::vector<std::size_t> expected;
      for (std::size_t i = 0; i < size; ++i) {
        if (random() % 100 >= percent) continue;
        bits.set(i);
        expected.push_back(i);
      }
      std::vector<std::size_t> visited, iterated, found;
      bits.forEach([&](std::size_t i) { visited.push_back(i); });
      for (const std::size_t i : bits) iterated.push_back(i);
      for (std::size_t i = bits.findFirst(); i != bits.size(); i = bits.findNext(i)) found.push_back(i);
      REQUIRE(visited == expected);
      REQUIRE(iterated == expected);
      REQUIRE(found == expected);
      REQUIRE(bits.findFrom(size) == size);
      REQUIRE(bits.findClearFrom(size) == size);
      for (std::size_t i = 0; i < size; i += 1 + size / 50) {
        const auto next = std::lower_bound(expected.begin(), expected.end(), i);
        REQUIRE(bits.findFrom(i) == (next == expected.end() ? size : *next));
        std::size_t clear = i;
        while (clear < size && std::binary_search(expected.begin(), expected.end(), clear)) ++clear;
        REQUIRE(bits.findClearFrom(i) == clear);
        for (const std::size_t end : {std::size_t{0}, i, std::min(size, i + 1), i + (size - i) / 2})
          REQUIRE(bits.findClearIn(i, end) == std::max(std::min(clear, end), std::min(i, end)));
      }
    }
  }
}

TEST_CASE("bit vector: one differing bit, wherever it is, is seen and is all that changes") {
  for (const std::size_t size : {65u, 1024u, 1025u, 2113u, 4000u}) {
    for (std::size_t i = 0; i < size; i += i % 64 == 0 ? 63 : 1) {
      BitVector a(size), b(size), none(size);
      b.set(i);
      REQUIRE(a.orIfChanged(b));
      REQUIRE(a == b);
      a.clear();
      REQUIRE(a.orWithAndNotIfChanged(none, b, none));
      REQUIRE(a == b);
      a.clear();
      REQUIRE_FALSE(a.orWithAndNotIfChanged(none, b, b));
      REQUIRE(a.none());
      a.setAll();
      b.complement();
      REQUIRE(a.andIfChanged(b));
      REQUIRE(a == b);
    }
  }
}

TEST_CASE("bit vector: a set may be combined with itself") {
  BitVector a(200);
  for (const std::size_t i : {0u, 64u, 199u}) a.set(i);
  const BitVector same = a;
  CHECK_FALSE(a.orIfChanged(a));
  CHECK_FALSE(a.andIfChanged(a));
  CHECK_FALSE(a.orWithAndNotIfChanged(a, a, a));
  CHECK(a.isSubsetOf(a));
  CHECK(a == same);
  a ^= a;
  CHECK(a.none());
}

TEST_CASE("bit vector: slices, sizes and first values") {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    // A slice of whole words of a larger set, with zeros behind its size.
    const std::size_t small = random() % 300, words = (small + 63) / 64;
    const std::size_t first = 64 * (random() % 5), large = first + 64 * words + random() % 200;
    BitVector a(small), b(large), at(large);
    Model slice(small), rest(large);
    for (std::size_t i = 0; i < large; ++i) {
      const bool inPadding = i >= first + small && i < first + 64 * words;
      if (random() % 3 == 0 && !inPadding) b.set(i);
      if (i >= first && i < first + small && random() % 3 == 0) a.set(i - first);
      rest[i] = b.test(i) || (i >= first && i < first + small && a.test(i - first));
    }
    for (std::size_t i = 0; i < small; ++i) slice[i] = a.test(i) || b.test(first + i);
    at = b;
    at.orAt(first, a);
    REQUIRE(agree(at, rest));
    const bool changes = !agree(a, slice);
    CHECK(a.orSliceIfChanged(b, first) == changes);
    REQUIRE(agree(a, slice));
    CHECK_FALSE(a.orSliceIfChanged(b, first));
    Model cut(large);
    for (std::size_t i = 64 * words; i < large; ++i) cut[i] = b.test(i);
    b.clearPrefix(small);
    REQUIRE(agree(b, cut));
  }
  for (const std::size_t size : kSizes) {
    BitVector ones(size, true);
    CHECK(ones.count() == size);
    // What was cut off does not come back.
    ones.resize(size / 2);
    ones.resize(size + 70);
    CHECK(ones.count() == size / 2);
    ones.complement();
    CHECK(ones.count() == size + 70 - size / 2);
  }
}
