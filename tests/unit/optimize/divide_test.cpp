// The formulas of the pass `divide` for every number of 8 bits, and for those of 16 bits where a quotient may
// change.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <string>

#include "passes/arithmetic/divide/formulas.h"
#include "sampled.h"

using namespace ptxopt::division;

namespace {

// Numbers themselves.
struct Numbers {
  using Value = uint64_t;
  unsigned bits;

  unsigned width() const { return bits; }
  Value cut(uint64_t v) const { return v & maskOf(bits); }
  int64_t asSigned(Value v) const { return static_cast<int64_t>(v << (64 - bits)) >> (64 - bits); }
  Value constant(uint64_t c) const { return cut(c); }
  Value add(Value a, Value b) const { return cut(a + b); }
  Value subtract(Value a, Value b) const { return cut(a - b); }
  Value negate(Value a) const { return cut(-a); }
  Value bitAnd(Value a, uint64_t c) const { return a & cut(c); }
  Value multiply(Value a, uint64_t c) const { return cut(a * c); }
  Value multiplyHigh(Value a, uint64_t c) const { return cut(a * cut(c) >> bits); }
  Value multiplyHighSigned(Value a, uint64_t c) const {
    return cut(static_cast<uint64_t>(asSigned(a) * asSigned(cut(c)) >> bits));
  }
  Value shiftRight(Value a, unsigned n) const { return a >> n; }
  Value shiftRightSigned(Value a, unsigned n) const { return cut(static_cast<uint64_t>(asSigned(a) >> n)); }
  Value increaseIfNotBelow(Value q, Value a, Value b) const { return cut(a >= b ? q + 1 : q); }
  Value least(Value a, Value b) const { return std::min(a, b); }
};

// What is wrong for a dividend and a divisor, or an empty string.
std::string wrongUnsigned(Numbers& n, uint64_t x, uint64_t d, uint64_t most) {
  const uint64_t q = unsignedQuotient(n, x, d, most);
  if (q != x / d) return "quotient";
  if (remainder(n, x, q, d) != x % d) return "remainder";
  if (std::has_single_bit(d) && unsignedRemainderOfPower(n, x, d) != x % d) return "remainder of a power";
  return {};
}

std::string wrongSigned(Numbers& n, int64_t x, int64_t d) {
  const uint64_t bits = n.cut(static_cast<uint64_t>(x));
  const uint64_t q = signedQuotient(n, bits, d);
  if (q != n.cut(static_cast<uint64_t>(x / d))) return "quotient";
  if (remainder(n, bits, q, static_cast<uint64_t>(d)) != n.cut(static_cast<uint64_t>(x % d))) return "remainder";
  const uint64_t size = static_cast<uint64_t>(d < 0 ? -d : d);
  if (std::has_single_bit(size) && signedRemainderOfPower(n, bits, size) != n.cut(static_cast<uint64_t>(x % d)))
    return "remainder of a power";
  return {};
}

}  // namespace

TEST_CASE("divide: every number of 8 bits by every constant") {
  Numbers n{8};
  for (uint64_t d = 1; d < 256; ++d)
    for (const uint64_t most : {uint64_t{255}, uint64_t{127}, uint64_t{100}, uint64_t{9}})
      for (uint64_t x = 0; x <= most; ++x)
        if (const std::string wrong = wrongUnsigned(n, x, d, most); !wrong.empty())
          FAIL(wrong, ": ", x, " / ", d, " up to ", most);
  for (int64_t d = -128; d < 128; ++d)
    for (int64_t x = -128; x < 128; ++x)
      if (d < -1 || d > 1)
        if (const std::string wrong = wrongSigned(n, x, d); !wrong.empty()) FAIL(wrong, ": ", x, " / ", d);
}

TEST_CASE("divide: 16 bits by every constant, on both sides of every multiple" * doctest::test_suite("slow")) {
  // Quotients grow with the dividend, as the formulas do: between two multiples nothing happens.
  Numbers n{16};
  // Under a sanitizer one divisor of 61.
  const unsigned kEach = ptxopt::testing::isSanitized() ? 61 : 1;
  for (uint64_t d = 1; d < 65536; d += kEach)
    for (uint64_t m = 0; m < 65536 + d; m += d)
      for (const uint64_t x : {m - 1, m})
        if (x < 65536)
          if (const std::string wrong = wrongUnsigned(n, x, d, 65535); !wrong.empty())
            FAIL(wrong, ": ", x, " / ", d);
  for (int64_t d = -32768; d < 32768; d += kEach) {
    if (d >= -1 && d <= 1) continue;
    const int64_t size = d < 0 ? -d : d;
    for (int64_t m = 0; m < 32768 + size; m += size)
      for (const int64_t x : {m - 1, m, m + 1, -m - 1, -m, -m + 1})
        if (x >= -32768 && x < 32768)
          if (const std::string wrong = wrongSigned(n, x, d); !wrong.empty()) FAIL(wrong, ": ", x, " / ", d);
  }
}

TEST_CASE("divide: by reciprocals of 8 bits") {
  Numbers n{8};
  for (uint64_t d = 1; d < 256; ++d)
    for (uint64_t m = 0; m < 256; ++m) {
      // What formulas.h asks for, and 0 where that is enough.
      const uint64_t missing = 256 - m * d;
      if (m * d > 256 || (missing > d && !(m == 0 && d >= 128))) continue;
      const Reciprocal<uint64_t> r{d, n.negate(d), m};
      for (uint64_t x = 0; x < 256; ++x) {
        // multiplyHigh of two numbers, and multiply, are those with a constant.
        const auto e = estimate(n, x, r);
        CHECK(quotientOf(n, e, r) == x / d);
        CHECK(remainderOf(n, e, r) == x % d);
      }
    }
}

TEST_CASE("divide: known multipliers") {
  // Hacker's Delight, tables 10-1 and 10-2.
  CHECK(signedMagic(32, 3).multiplier == 0x55555556);
  CHECK(signedMagic(32, 5).multiplier == 0x66666667);
  CHECK(signedMagic(32, 5).shift == 1);
  CHECK(signedMagic(32, 7).multiplier == 0x92492493);
  CHECK(signedMagic(32, 7).shift == 2);
  CHECK(unsignedMagic(32, 3, UINT32_MAX)->multiplier == 0xaaaaaaab);
  CHECK(unsignedMagic(32, 3, UINT32_MAX)->shift == 1);
  CHECK_FALSE(unsignedMagic(32, 7, UINT32_MAX).has_value());
  CHECK(unsignedMagic(32, 7, INT32_MAX)->multiplier == 0x92492493);
  CHECK(wideMagic(32, 7).multiplier == 0x24924925);
  CHECK(wideMagic(32, 7).shift == 3);
  CHECK(unsignedMagic(64, 10, UINT64_MAX)->multiplier == 0xcccccccccccccccd);
  CHECK(unsignedMagic(32, 1000, 5)->multiplier == 0);
}
