#include "support/union_find.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace ptxopt;

TEST_CASE("union-find: sets and their roots agree with labels that are written over") {
  std::mt19937 random(1);
  for (uint32_t size : {1u, 2u, 7u, 60u}) {
    UnionFind sets(size - 1);
    CHECK(sets.add() == size - 1);
    CHECK(sets.size() == size);
    std::vector<uint32_t> label(size);  // the smallest of its set
    for (uint32_t k = 0; k < size; ++k) label[k] = k;
    for (uint32_t iteration = 0; iteration < size; ++iteration) {
      const auto a = static_cast<uint32_t>(random() % size), b = static_cast<uint32_t>(random() % size);
      sets.unite(a, b);
      const uint32_t first = std::min(label[a], label[b]), last = std::max(label[a], label[b]);
      std::replace(label.begin(), label.end(), last, first);
      for (uint32_t k = 0; k < size; ++k) CHECK(sets.find(k) == label[k]);
    }
  }
}
