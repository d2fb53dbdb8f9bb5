#include "support/bit_vector.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace ptxopt;

namespace {

bool equal(const BitVector& bits, const std::vector<bool>& model) {
  if (bits.size() != model.size()) return false;
  for (std::size_t i = 0; i < model.size(); ++i)
    if (bits.test(i) != model[i]) return false;
  return true;
}

}  // namespace

TEST_CASE("bit vector: behaves as std::vector<bool>") {
  std::mt19937 random(1);
  for (const std::size_t size : {0u, 1u, 63u, 64u, 65u, 127u, 128u, 1000u}) {
    CAPTURE(size);
    BitVector a(size), b(size);
    std::vector<bool> modelA(size), modelB(size);
    for (int step = 0; step < 2000; ++step) {
      const std::size_t i = size == 0 ? 0 : random() % size;
      switch (size == 0 ? 4 : random() % 6) {
        case 0:
          a.set(i);
          modelA[i] = true;
          break;
        case 1:
          a.reset(i);
          modelA[i] = false;
          break;
        case 2:
          b.set(i);
          modelB[i] = true;
          break;
        case 3:
          b.reset(i);
          modelB[i] = false;
          break;
        case 4: {
          bool changes = false;
          for (std::size_t k = 0; k < size; ++k) {
            changes = changes || (modelB[k] && !modelA[k]);
            modelA[k] = modelA[k] || modelB[k];
          }
          REQUIRE(a.orIfChanged(b) == changes);
          REQUIRE_FALSE(a.orIfChanged(b));
          break;
        }
        default:
          if (random() % 50 == 0) {
            a.clear();
            modelA.assign(size, false);
          }
      }
      if (step % 20 != 0) continue;
      REQUIRE(equal(a, modelA));
      REQUIRE(equal(b, modelB));
      REQUIRE(a.count() == static_cast<std::size_t>(std::count(modelA.begin(), modelA.end(), true)));
      REQUIRE((a == b) == (modelA == modelB));
      std::vector<bool> visited(size);
      std::size_t previous = 0, n = 0;
      a.forEach([&](std::size_t k) {
        REQUIRE((n == 0 || k > previous));
        previous = k;
        ++n;
        visited.at(k) = true;
      });
      REQUIRE(visited == modelA);
    }
  }
}

TEST_CASE("bit vector: edges of words") {
  BitVector bits(130);
  for (const std::size_t i : {0u, 63u, 64u, 127u, 128u, 129u}) bits.set(i);
  CHECK(bits.count() == 6);
  std::vector<std::size_t> seen;
  bits.forEach([&](std::size_t i) { seen.push_back(i); });
  CHECK(seen == std::vector<std::size_t>{0, 63, 64, 127, 128, 129});
  bits.reset(64);
  CHECK_FALSE(bits.test(64));
  CHECK(bits.test(63));
  CHECK(bits.count() == 5);
}
