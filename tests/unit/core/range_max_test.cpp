// RangeMax against a plain row.
#include <doctest/doctest.h>

#include <random>

#include "support/range_max.h"

using ptxopt::RangeMax;

TEST_CASE("RangeMax agrees with a plain row") {
  std::mt19937 random(7);
  for (const std::size_t size : {1u, 2u, 3u, 17u, 64u, 100u}) {
    std::vector<uint32_t> start(size);
    for (uint32_t& v : start) v = static_cast<uint32_t>(random() % 50);
    std::vector<int64_t> plain(start.begin(), start.end());
    RangeMax row(start);
    for (int step = 0; step < 300; ++step) {
      const std::size_t first = random() % size, end = first + random() % (size - first + 1);
      if (first < end)
        CHECK(row.most(first, end) == *std::max_element(plain.begin() + static_cast<std::ptrdiff_t>(first),
                                                        plain.begin() + static_cast<std::ptrdiff_t>(end)));
      CHECK(row.most() == *std::max_element(plain.begin(), plain.end()));
      const auto by = static_cast<int64_t>(random() % 21) - 10;
      row.add(first, end, by);
      for (std::size_t i = first; i < end; ++i) plain[i] += by;
    }
  }
}

TEST_CASE("RangeMax of an empty range is below every number") {
  const std::vector<uint32_t> values{3, 1};
  CHECK(RangeMax(values).most(1, 1) < 0);
  CHECK(RangeMax(std::vector<uint32_t>()).most() < 0);
}
