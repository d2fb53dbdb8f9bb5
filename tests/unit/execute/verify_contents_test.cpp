// What the memory of `verify`'s inputs holds.
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "support.h"
#include "verify/values.h"

namespace ptxopt::verify {
namespace {

template <typename T>
std::vector<T> pageOf(const Contents& c) {
  std::vector<T> page(TrialMemory::kPage / sizeof(T));
  c.fillPage(0, reinterpret_cast<std::byte*>(page.data()));
  return page;
}

}  // namespace

TEST_CASE("input: memory is a function of the place, whatever page is asked for first") {
  for (const auto kind : {Contents::Kind::Small, Contents::Kind::Mixed, Contents::Kind::Any,
                          Contents::Kind::Special, Contents::Kind::Wide})
    for (const ScalarType type : {ScalarType::u8, ScalarType::s16, ScalarType::u32, ScalarType::f32,
                                  ScalarType::f64, ScalarType::f16, ScalarType::bf16x2, ScalarType::b64}) {
      const Contents c{kind, type, 99};
      std::vector<std::byte> a(4096), b(4096), other(4096);
      c.fillPage(-4096, a.data());
      c.fillPage(8192, other.data());
      c.fillPage(-4096, b.data());
      CHECK(std::memcmp(a.data(), b.data(), 4096) == 0);
      CHECK(std::memcmp(a.data(), other.data(), 4096) != 0);
    }
}

TEST_CASE("input: memory of few values has one to three, which differ from seed to seed") {
  std::set<uint64_t> all;
  std::set<std::size_t> counts;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Contents c{Contents::Kind::Few, ScalarType::f64, seed};
    std::vector<uint64_t> page(512);
    c.fillPage(0, reinterpret_cast<std::byte*>(page.data()));
    const std::set<uint64_t> distinct(page.begin(), page.end());
    counts.insert(distinct.size());
    all.insert(distinct.begin(), distinct.end());
  }
  CHECK(counts == std::set<std::size_t>{1, 2, 3});
  CHECK(all.size() > 40);
}

TEST_CASE("input: doubles use all their bits") {
  for (const auto kind : {Contents::Kind::Small, Contents::Kind::Wide, Contents::Kind::Tiny, Contents::Kind::Any}) {
    const Contents c{kind, ScalarType::f64, 5};
    std::vector<uint64_t> page(512);
    c.fillPage(0, reinterpret_cast<std::byte*>(page.data()));
    uint64_t ones = 0, zeros = 0;
    for (const uint64_t v : page) ones |= v, zeros |= ~v;
    CHECK((ones & zeros & 0xFFFFFFFFull) == 0xFFFFFFFFull);
  }
}

TEST_CASE("input: shuffled numbers are each there once, in another order from seed to seed") {
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto page = pageOf<uint32_t>({Contents::Kind::Shuffled, ScalarType::u32, seed});
    CHECK(std::set<uint32_t>(page.begin(), page.end()).size() == page.size());
    CHECK(*std::max_element(page.begin(), page.end()) == page.size() - 1);
    orders.insert(page);
    const auto floats = pageOf<float>({Contents::Kind::Shuffled, ScalarType::f32, seed});
    CHECK(std::set<float>(floats.begin(), floats.end()).size() == floats.size());
  }
  CHECK(orders.size() > 15);
}

TEST_CASE("input: scaled floats use all their bits; in some arrays none is negative") {
  bool negative = false, nonnegative = false;
  std::set<int> exponents;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto page = pageOf<float>({Contents::Kind::Scaled, ScalarType::f32, seed});
    uint32_t ones = 0, zeros = 0;
    float most = 0;
    for (const float v : page) {
      ones |= std::bit_cast<uint32_t>(v), zeros |= ~std::bit_cast<uint32_t>(v);
      most = std::max(most, std::abs(v));
    }
    CHECK((ones & zeros & 0x7FFFFF) == 0x7FFFFF);
    exponents.insert(std::ilogb(most));
    const bool hasNegative = (ones >> 31) != 0;
    negative = negative || hasNegative;
    nonnegative = nonnegative || !hasNegative;
  }
  CHECK(negative);
  CHECK(nonnegative);
  CHECK(exponents.size() >= 6);
}

TEST_CASE("input: arrays of one value, among them zeros of both signs") {
  std::set<uint32_t> values;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const auto page = pageOf<uint32_t>({Contents::Kind::Same, ScalarType::f32, seed});
    CHECK(std::set<uint32_t>(page.begin(), page.end()).size() == 1);
    values.insert(page[0]);
  }
  for (const uint32_t v : {0x00000000u, 0x80000000u, 0x3F800000u, 0xBF800000u}) CHECK(values.contains(v));
}

TEST_CASE("input: what is skipped is what follows") {
  for (const auto kind : {Contents::Kind::Small, Contents::Kind::Rising, Contents::Kind::Shuffled}) {
    Contents c{kind, ScalarType::u32, 3};
    const auto all = pageOf<uint32_t>(c);
    c.skip = 37;
    const auto rest = pageOf<uint32_t>(c);
    CHECK(std::equal(all.begin() + 37, all.end(), rest.begin()));
  }
}

}  // namespace ptxopt::verify
