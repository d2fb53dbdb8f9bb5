// BitVector and BitRows against std::vector<bool>, which knows nothing of words.
#include "support/bit_rows.h"

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
  std::size_t count = 0;
  bits.forEach([&](std::size_t) { ++count; });
  return count == static_cast<std::size_t>(std::count(model.begin(), model.end(), true)) &&
         bits.none() == (count == 0);
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
bool opAndNot(bool a, bool b) { return a && !b; }

constexpr std::size_t kSizes[] = {0,   1,   2,    31,   32,   33,   63,   64,   65,   127,
                                  128, 129, 1000, 1023, 1024, 1025, 1087, 2048, 2113, 5000};

}  // namespace

TEST_CASE("bit vector: behaves as std::vector<bool> under random operations") {
  std::mt19937 random(1);
  std::size_t subsets = 0;
  for (const std::size_t size : kSizes) {
    CAPTURE(size);
    std::vector<Pair> sets(4, Pair(size));
    for (int step = 0; step < 200; ++step) {
      CAPTURE(step);
      Pair& a = sets[random() % 4];
      const Pair b = sets[random() % 4];
      switch (random() % 8) {
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
          a.bits.andNot(b.bits);
          a.combine(b.model, opAndNot);
          break;
        default:
          if (random() % 4 == 0) {
            a.bits.clear();
            a.model.assign(size, false);
          }
      }
      REQUIRE(agree(a.bits, a.model));
      REQUIRE((a.bits == b.bits) == (a.model == b.model));
      bool subset = true;
      for (std::size_t i = 0; i < size; ++i) subset = subset && (!a.model[i] || b.model[i]);
      REQUIRE(a.bits.isSubsetOf(b.bits) == subset);
      subsets += subset;
    }
  }
  CHECK(subsets > 100);
}

TEST_CASE("bit rows: behave as std::vector<bool> under random operations") {
  std::mt19937 random(4);
  std::size_t changes = 0, stays = 0;
  for (const std::size_t size : kSizes) {
    CAPTURE(size);
    constexpr std::size_t kRows = 4;
    const std::size_t words = (size + 63) / 64;
    BitRows rows(kRows, size), kill(kRows, size);
    std::vector<Model> model(kRows, Model(size)), killed(kRows, Model(size));
    for (int step = 0; step < 200; ++step) {
      CAPTURE(step);
      const std::size_t row = random() % kRows, other = random() % kRows;
      for (std::size_t n = size == 0 ? 0 : random() % 8; n-- > 0;) {
        const std::size_t i = random() % size;
        rows.set(other, i);
        model[other][i] = true;
        kill.set(row, i);
        killed[row][i] = true;
        const std::size_t gone = random() % size;
        kill.reset(row, gone);
        killed[row][gone] = false;
      }
      // A set as large as a row, and one with a slice that is.
      const std::size_t first = 64 * (random() % 3);
      BitVector in(size), larger(first + 64 * words + 70);
      for (std::size_t i = 0; i < size; ++i) {
        if (random() % 4 != 0) continue;
        in.set(i);
        larger.set(first + i);
      }
      Model expected = model[row];
      bool changed = false;
      switch (random() % 3) {
        case 0:
          for (std::size_t i = 0; i < size; ++i) expected[i] = expected[i] || (model[other][i] && !killed[row][i]);
          changed = rows.orWithAndNotIfChanged(row, other, kill);
          REQUIRE_FALSE(rows.orWithAndNotIfChanged(row, other, kill));
          break;
        case 1:
          for (std::size_t i = 0; i < size; ++i) expected[i] = expected[i] || (in.test(i) && !killed[row][i]);
          changed = rows.orWithAndNotIfChanged(row, in, kill);
          REQUIRE_FALSE(rows.orWithAndNotIfChanged(row, in, kill));
          break;
        default:
          for (std::size_t i = 0; i < size; ++i) expected[i] = expected[i] || in.test(i);
          changed = rows.orSliceIfChanged(row, larger, first);
          REQUIRE_FALSE(rows.orSliceIfChanged(row, larger, first));
      }
      REQUIRE(changed == (expected != model[row]));
      ++(changed ? changes : stays);
      model[row] = expected;
      BitVector sum(first + 64 * words);
      rows.addTo(row, sum, first);
      BitVector visited(size);
      rows.forEach(row, [&](std::size_t i) { visited.set(i); });
      REQUIRE(agree(visited, model[row]));
      for (std::size_t i = 0; i < size; ++i)
        if (rows.test(row, i) != model[row][i] || sum.test(first + i) != model[row][i]) FAIL("element " << i);
    }
  }
  CHECK(changes > 500);
  CHECK(stays > 100);
}

TEST_CASE("bit vector: two ways to list the elements") {
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
      std::vector<std::size_t> visited, found;
      bits.forEach([&](std::size_t i) { visited.push_back(i); });
      for (std::size_t i = bits.findFirst(); i != bits.size(); i = bits.findNext(i)) found.push_back(i);
      REQUIRE(visited == expected);
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

TEST_CASE("bit rows: one differing bit, wherever it is, is seen and is all that changes") {
  for (const std::size_t size : {65u, 1024u, 1025u, 2113u, 4000u}) {
    const BitRows none(2, size);
    for (std::size_t i = 0; i < size; i += i % 64 == 0 ? 63 : 1) {
      BitVector one(size);
      one.set(i);
      BitRows a(2, size), expected(2, size);
      expected.set(1, i);
      REQUIRE_FALSE(a.orWithAndNotIfChanged(1, one, expected));
      REQUIRE(a == none);
      REQUIRE(a.orWithAndNotIfChanged(1, one, none));
      REQUIRE(a == expected);
      REQUIRE_FALSE(a.orWithAndNotIfChanged(1, 1, none));
    }
  }
}

TEST_CASE("bit vector: a set may be combined with itself") {
  BitVector a(200);
  for (const std::size_t i : {0u, 64u, 199u}) a.set(i);
  const BitVector same = a;
  a |= a;
  a &= a;
  CHECK(a.isSubsetOf(a));
  CHECK(a == same);
  CHECK(a.andNot(a).none());
}

TEST_CASE("bit vector: slices, and sizes that change") {
  std::mt19937 random(3);
  for (int iteration = 0; iteration < 500; ++iteration) {
    // A slice of whole words of a larger set, with zeros behind its size.
    const std::size_t small = random() % 300, words = (small + 63) / 64;
    const std::size_t first = 64 * (random() % 5), large = first + 64 * words + random() % 200;
    BitVector a(small), b(large);
    Model sum(large), cut(large);
    for (std::size_t i = 0; i < large; ++i) {
      const bool inPadding = i >= first + small && i < first + 64 * words;
      if (random() % 3 == 0 && !inPadding) b.set(i);
      if (i >= first && i < first + small && random() % 3 == 0) a.set(i - first);
      sum[i] = b.test(i) || (i >= first && i < first + small && a.test(i - first));
      cut[i] = b.test(i) && i >= 64 * words;
    }
    BitVector at = b;
    at.orAt(first, a);
    REQUIRE(agree(at, sum));
    b.clearPrefix(small);
    REQUIRE(agree(b, cut));
    // What was cut off does not come back.
    Model resized = sum;
    for (const std::size_t size : {large / 2, large + 70}) {
      at.resize(size);
      resized.resize(size);
      REQUIRE(agree(at, resized));
    }
  }
}
