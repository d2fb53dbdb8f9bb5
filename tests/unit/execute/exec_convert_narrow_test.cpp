// fp8, fp6, fp4 and ue8m0, packed forms and stochastic rounding, against a search over all codes of a format.
#include "exec/value/convert_narrow.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "exec_convert_oracle.h"

using namespace convert_oracle;
using namespace ptxopt::exec;

namespace {

const std::vector<F> kNarrow = {F::E4M3, F::E5M2, F::E2M3, F::E3M2, F::E2M1};

// The finite numbers without sign, in order; their index is their code.
std::vector<long double> finiteNumbers(F f) {
  std::vector<long double> result;
  for (uint64_t c = 0; c < uint64_t{1} << (shape(f).bits - 1); ++c)
    if (std::isfinite(value(c, f))) result.push_back(value(c, f));
  return result;
}

// The nearest number, the even code of two: .rn.satfinite.
uint64_t nearestCode(long double x, F f, const std::vector<long double>& numbers) {
  if (std::isnan(x)) return f == F::E4M3 || f == F::E5M2 ? 0x7f : numbers.size() - 1;
  const uint64_t sign = std::signbit(x) ? uint64_t{1} << (shape(f).bits - 1) : 0;
  const long double magnitude = std::min(std::fabs(x), numbers.back());
  uint64_t best = 0;
  for (uint64_t c = 1; c < numbers.size(); ++c) {
    const long double here = std::fabs(numbers[c] - magnitude), there = std::fabs(numbers[best] - magnitude);
    if (here < there || (here == there && c % 2 == 0)) best = c;
  }
  return sign | best;
}

ConvertMode satfinite(bool relu = false) {
  ConvertMode mode;
  mode.satfinite = true;
  mode.relu = relu;
  return mode;
}

// Patterns of f32 around every number of a format and every middle between two, and some others.
std::vector<uint32_t> around(const std::vector<long double>& numbers) {
  std::vector<uint32_t> result = {0x7f800000, 0x7f7fffff, 0x7fc00000, 0x7f800001,
                                  0x7fffffff, 1,          0x007fffff, 0x00800000};
  const auto add = [&](long double x) {
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(x));
    for (uint32_t d : {0u, 1u, 2u, ~0u, ~1u}) result.push_back((bits + d) & 0x7fffffff);
  };
  for (size_t i = 0; i < numbers.size(); ++i) {
    add(numbers[i]);
    if (i + 1 < numbers.size()) add((numbers[i] + numbers[i + 1]) / 2);
  }
  add(numbers.back() * 1.01L);
  add(numbers.back() + (numbers.back() - numbers[numbers.size() - 2]) / 2);
  add(numbers.back() * 2);
  for (uint64_t x : patterns(F::F32, 200)) result.push_back(static_cast<uint32_t>(x) & 0x7fffffff);
  const size_t positive = result.size();
  for (size_t i = 0; i < positive; ++i) result.push_back(result[i] | 0x80000000);
  return result;
}

}  // namespace

TEST_CASE("convert: f32 and f16 to fp8, fp6, fp4") {
  for (F to : kNarrow) {
    const std::vector<long double> numbers = finiteNumbers(to);
    for (bool relu : {false, true}) {
      const ConvertMode mode = satfinite(relu);
      Differences d;
      const auto check = [&](uint64_t x, F from) {
        const long double v = value(x, from);
        const uint64_t expected = relu && std::signbit(v) && !std::isnan(v) ? 0 : nearestCode(v, to, numbers);
        d.compare(x, resolveConversion(from, to, mode)(x, mode), expected);
      };
      for (uint32_t x : around(numbers)) check(x, F::F32);
      if (to != F::E2M3 && to != F::E3M2)
        for (uint64_t x = relu ? 3 : 0; x < 0x10000; x += 29) check(x, F::F16);
      CAPTURE(static_cast<int>(to));
      CHECK_NO_DIFFERENCES(d);
    }
  }
}

TEST_CASE("convert: fp8, fp6, fp4 to f16 and f32") {
  for (F from : kNarrow)
    for (bool relu : {false, true}) {
      ConvertMode mode;
      mode.relu = relu;
      Differences d;
      for (uint64_t c = 0; c < uint64_t{1} << shape(from).bits; ++c) {
        const long double v = value(c, from);
        for (F to : {F::F16, F::F32}) {
          uint64_t expected = std::isnan(v) ? (to == F::F16 ? 0x7fff : 0x7fffffff) : code(v, to);
          if (relu && std::signbit(v) && !std::isnan(v)) expected = 0;
          // The bits above the number are ignored.
          d.compare(c, resolveConversion(from, to, mode)(c | uint64_t{0xffffff} << shape(from).bits, mode),
                    expected);
        }
      }
      CHECK_NO_DIFFERENCES(d);
    }
}

TEST_CASE("convert: ue8m0") {
  // By code; that of 255 stands for all that is too large.
  std::vector<long double> powers;
  for (int c = 0; c < 256; ++c) powers.push_back(std::ldexp(1.0L, c - 127));
  for (F from : {F::F32, F::BF16})
    for (bool up : {false, true})
      for (bool finite : {false, true}) {
        ConvertMode mode;
        mode.rounding = up ? Rounding::Up : Rounding::Zero;
        mode.satfinite = finite;
        const ConvertFunction f = resolveConversion(from, F::UE8M0, mode);
        REQUIRE((f != nullptr));
        Differences d;
        for (uint64_t x : patterns(from, 1000)) {
          const long double v = std::fabs(value(x, from));
          uint64_t expected;
          if (std::isnan(v)) {
            expected = 0xff;
          } else {
            // The first power not below v, or the last not above it.
            const auto next = up ? std::lower_bound(powers.begin(), powers.end(), v)
                                 : std::upper_bound(powers.begin() + 1, powers.end(), v) - 1;
            expected = static_cast<uint64_t>(next - powers.begin());
          }
          if (finite && !std::isnan(v) && expected >= 255) expected = 254;
          if (expected > 255) expected = 255;
          d.compare(x, f(x, mode), expected);
        }
        CHECK_NO_DIFFERENCES(d);
      }
  Differences d;
  for (uint64_t c = 0; c < 256; ++c)
    for (F to : {F::BF16, F::F32}) {
      const uint64_t nan = to == F::BF16 ? 0x7fff : 0x7fffffff;
      const uint64_t expected = c == 255 ? nan : code(std::ldexp(1.0L, static_cast<int>(c) - 127), to);
      d.compare(c, convert(c, F::UE8M0, to, {}), expected);
    }
  CHECK_NO_DIFFERENCES(d);
}

TEST_CASE("convert: order of packed operands") {
  const uint32_t one = 0x3f800000, minusTwo = 0xc0000000;
  const auto pair = [&](F to, ConvertMode mode) {
    const auto p = PackedConversion::resolve(F::F32, to, mode);
    REQUIRE(p.has_value());
    CHECK(p->takesPair());
    return p->pair(one, minusTwo);
  };
  CHECK(pair(F::F16, {}) == 0x3c00c000);
  CHECK(pair(F::BF16, {}) == 0x3f80c000);
  CHECK(pair(F::BF16, satfinite(true)) == 0x3f800000);
  CHECK(pair(F::E4M3, satfinite()) == 0x38c0);
  CHECK(pair(F::E5M2, satfinite()) == 0x3cc0);
  CHECK(pair(F::E2M3, satfinite()) == 0x0830);
  CHECK(pair(F::E3M2, satfinite()) == 0x0c30);
  CHECK(pair(F::E2M1, satfinite()) == 0x2c);
  ConvertMode zero;
  zero.rounding = Rounding::Zero;
  CHECK(pair(F::UE8M0, zero) == 0x7f80);

  const auto packed = [](F from, F to, uint32_t x, ConvertMode mode) {
    const auto p = PackedConversion::resolve(from, to, mode);
    REQUIRE(p.has_value());
    CHECK(!p->takesPair());
    return p->packed(x);
  };
  CHECK(packed(F::F16, F::E4M3, 0x3c00c000, satfinite()) == 0x38c0);
  CHECK(packed(F::F16, F::E5M2, 0x3c00c000, satfinite(true)) == 0x3c00);
  CHECK(packed(F::F16, F::E2M1, 0x3c00c000, satfinite()) == 0x2c);
  CHECK(packed(F::E4M3, F::F16, 0x38c0, {}) == 0x3c00c000);
  CHECK(packed(F::E5M2, F::F16, 0x3cc0, {}) == 0x3c00c000);
  CHECK(packed(F::E2M3, F::F16, 0x0830, {}) == 0x3c00c000);
  CHECK(packed(F::E3M2, F::F16, 0xcc30, {}) == 0x3c00c000);
  CHECK(packed(F::E2M1, F::F16, 0xff2c, {}) == 0x3c00c000);
  CHECK(packed(F::UE8M0, F::BF16, 0x7f80, {}) == 0x3f804000);
  CHECK(packed(F::BF16, F::UE8M0, 0x3f80c000, zero) == 0x7f80);
}

TEST_CASE("convert: packed forms that PTX does not have") {
  const auto has = [](F from, F to, ConvertMode mode) {
    return PackedConversion::resolve(from, to, mode).has_value();
  };
  ConvertMode up;
  up.rounding = Rounding::Up;
  CHECK(!has(F::F32, F::F16, up));
  ConvertMode sat, ftz;
  sat.sat = ftz.ftz = true;
  CHECK(!has(F::F32, F::F16, sat));
  CHECK(!has(F::F32, F::F16, ftz));
  CHECK(!has(F::F32, F::TF32, {}));
  CHECK(!has(F::F32, F::F64, {}));
  CHECK(!has(F::F32, F::E4M3, {}));
  CHECK(!has(F::BF16, F::E4M3, satfinite()));
  CHECK(!has(F::F16, F::E2M3, satfinite()));
  CHECK(!has(F::E4M3, F::BF16, {}));
  CHECK(!has(F::E4M3, F::F32, {}));
  CHECK(!has(F::F16, F::BF16, {}));
  CHECK(!has(F::F32, F::UE8M0, {}));
}

TEST_CASE("convert: stochastic rounding of pairs") {
  for (F to : {F::F16, F::BF16}) {
    const uint64_t count = to == F::F16 ? 13 : 16, largest = to == F::F16 ? 0x7bff : 0x7f7f;
    std::mt19937_64 engine(5);
    Differences d;
    for (uint64_t x : patterns(F::F32, 4000)) {
      const auto random = static_cast<uint32_t>(engine());
      const bool relu = (random >> 29 & 1) != 0, finite = (random >> 30 & 1) != 0;
      const auto expected = [&](uint64_t bits, uint64_t share) -> uint64_t {
        const long double v = value(bits, F::F32);
        if (std::isnan(v)) return 0x7fff;
        if (relu && std::signbit(v)) return 0;
        const uint64_t sign = std::signbit(v) ? 0x8000 : 0;
        if (std::isinf(v)) return sign | (largest + (finite ? 0 : 1));
        // The numbers below and above; above the largest as if there were more.
        const long double magnitude = std::fabs(v);
        uint64_t below = largest;
        long double unit = value(largest, to) - value(largest - 1, to);
        if (magnitude < value(largest, to)) {
          below = 0;
          for (uint64_t step = 0x4000; step > 0; step /= 2)
            if (below + step <= largest && value(below + step, to) <= magnitude) below += step;
          unit = value(below + 1 <= largest ? below + 1 : below, to) - value(below, to);
        }
        const long double fraction = (magnitude - value(below, to)) / unit;
        const bool carry =
            fraction + static_cast<long double>(share) / std::ldexp(1.0L, static_cast<int>(count)) >= 1;
        return sign | std::min(below + (carry ? 1 : 0), finite ? largest : largest + 1);
      };
      const uint64_t other = engine() % 4 == 0 ? x ^ 0x80001234 : engine() & 0xffffffff;
      const uint64_t mask = (1u << count) - 1;
      const uint64_t wanted = expected(x, random >> 16 & mask) << 16 | expected(other, random & mask);
      d.compare(
          x,
          convertStochasticPair(to, static_cast<uint32_t>(x), static_cast<uint32_t>(other), random, relu, finite),
          wanted);
    }
    CHECK_NO_DIFFERENCES(d);
  }
  // No random bits: towards zero. All of them: up as soon as the first bit that counts is set.
  CHECK(convertStochasticPair(F::BF16, 0x3f80ffff, 0xbf80ffff, 0, false, false) == 0x3f80bf80);
  CHECK(convertStochasticPair(F::BF16, 0x3f800001, 0xbf800001, ~0u, false, false) == 0x3f81bf81);
  CHECK(convertStochasticPair(F::BF16, 0x3f800001, 0x3f800001, 0xffff0000, false, false) == 0x3f813f80);
  CHECK(convertStochasticPair(F::F16, 0x3f800001, 0x3f800001, 0x1fffe000, false, false) == 0x3c013c00);
  CHECK(convertStochasticPair(F::F16, 0x477fe001, 0x477fe001, 0x00001fff, false, false) == 0x7bff7c00);
  CHECK(convertStochasticPair(F::F16, 0x477fe001, 0xc77fe001, ~0u, false, true) == 0x7bfffbff);
}

TEST_CASE("convert: stochastic rounding of four") {
  for (F to : kNarrow) {
    const std::vector<long double> numbers = finiteNumbers(to);
    const std::vector<uint32_t> inputs = around(numbers);
    std::mt19937 engine(9);
    Differences d;
    for (size_t i = 0; i + 4 <= inputs.size(); i += 2) {
      const std::array<uint32_t, 4> x = {inputs[i], inputs[i + 1], inputs[i + 2],
                                         i % 6 == 0 ? static_cast<uint32_t>(engine()) : inputs[i + 3]};
      const auto rbits = static_cast<uint32_t>(engine());
      const bool relu = i % 4 == 0;
      // Bits of rbits from the most significant of each share to the least, as seen on sm_100.
      std::array<std::vector<int>, 4> order;
      for (int k = 0; k < 16; ++k) {
        if (to == F::E2M1) {
          order[0].push_back(k < 8 ? 8 + k : 16 + k);
          order[1].push_back(k < 8 ? 31 - k : 23 - k);
          order[2].push_back(k < 8 ? k : 8 + k);
          order[3].push_back(k < 8 ? 23 - k : 15 - k);
        } else {
          order[0].push_back(16 + k);
          order[1].push_back(31 - k);
          order[2].push_back(k);
          order[3].push_back(15 - k);
        }
      }
      uint64_t wanted = 0;
      for (size_t n = 0; n < 4; ++n) {
        const long double v = value(x[n], F::F32);
        uint64_t element;
        if (std::isnan(v)) {
          element = to == F::E4M3 || to == F::E5M2 ? 0x7f : numbers.size() - 1;
        } else {
          const long double magnitude = std::min(std::fabs(v), numbers.back());
          element =
              static_cast<uint64_t>(std::upper_bound(numbers.begin(), numbers.end(), magnitude) - numbers.begin()) -
              1;
          if (element + 1 < numbers.size()) {
            long double sum = (magnitude - numbers[element]) / (numbers[element + 1] - numbers[element]);
            for (size_t k = 0; k < 16; ++k)
              if ((rbits >> order[n][k] & 1) != 0) sum += std::ldexp(1.0L, -1 - static_cast<int>(k));
            if (sum >= 1) ++element;
          }
          if (std::signbit(v)) element = relu ? 0 : element | uint64_t{1} << (shape(to).bits - 1);
        }
        wanted = wanted << (to == F::E2M1 ? 4 : 8) | element;
      }
      d.compare(i, convertStochasticQuad(to, x, rbits, relu), wanted);
    }
    CAPTURE(static_cast<int>(to));
    CHECK_NO_DIFFERENCES(d);
  }
}
