// Comparisons, min, max, abs, neg, copysign, testp against definitions on the values.
#include <doctest/doctest.h>

#include "exec/value/float_compare.h"
#include "exec/value/float_sign.h"
#include "exec_float_reference.h"

using namespace ptxopt::exec;
using namespace ptxopt::testing;

namespace {

bool compareValues(FloatComparison c, double a, double b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  switch (c) {
    case FloatComparison::Eq: return !nan && a == b;
    case FloatComparison::Ne: return !nan && a != b;
    case FloatComparison::Lt: return !nan && a < b;
    case FloatComparison::Le: return !nan && a <= b;
    case FloatComparison::Gt: return !nan && a > b;
    case FloatComparison::Ge: return !nan && a >= b;
    case FloatComparison::Equ: return nan || a == b;
    case FloatComparison::Neu: return nan || a != b;
    case FloatComparison::Ltu: return nan || a < b;
    case FloatComparison::Leu: return nan || a <= b;
    case FloatComparison::Gtu: return nan || a > b;
    case FloatComparison::Geu: return nan || a >= b;
    case FloatComparison::Num: return !nan;
    case FloatComparison::Nan: return nan;
  }
  return false;
}

// The ISA's min_num, min_nan and their like, on values; signed zeros by the sign.
template <class Format>
typename Format::Word minMaxOfValues(bool max, typename Format::Word a, typename Format::Word b, bool nan) {
  using Word = typename Format::Word;
  const double x = decode<Format>(a), y = decode<Format>(b);
  Word none = Format::kNaN;
  if constexpr (std::is_same_v<Format, F64>) none = (std::isnan(x) ? a : b) | uint64_t{0x0008000000000000};
  if (nan ? std::isnan(x) || std::isnan(y) : std::isnan(x) && std::isnan(y)) return none;
  if (std::isnan(x)) return b;
  if (std::isnan(y)) return a;
  if (x == y) return std::signbit(x) == max ? b : a;
  return (x < y) != max ? a : b;
}

template <class Format>
typename Format::Word flushed(typename Format::Word x) {
  return decode<Format>(x) != 0 && (x & Format::kInfinity) == 0
             ? static_cast<typename Format::Word>(x & Format::kSign)
             : x;
}

template <class Format>
void checkAll(int count) {
  using Word = typename Format::Word;
  const auto all = edges<Format>();
  Operands<Format> random(11);
  int wrong = 0;
  const auto check = [&](Word a, Word b, Word c) {
    const double x = decode<Format>(a), y = decode<Format>(b);
    for (int k = 0; k <= static_cast<int>(FloatComparison::Nan); ++k) {
      const auto comparison = static_cast<FloatComparison>(k);
      wrong += compareFloat<Format>(comparison, a, b) != compareValues(comparison, x, y);
    }
    for (int flags = 0; flags < 8; ++flags) {
      const MinMaxMode mode{(flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, false};
      const auto prepared = [&](Word w) {
        if (mode.ftz) w = flushed<Format>(w);
        return mode.abs ? static_cast<Word>(w & static_cast<Word>(~Format::kSign)) : w;
      };
      const Word p = prepared(a), q = prepared(b), r = prepared(c);
      const Word least = minMaxOfValues<Format>(false, p, q, mode.nan);
      const Word most = minMaxOfValues<Format>(true, p, q, mode.nan);
      wrong += minMax<Format, false>(a, b, mode) != least;
      wrong += minMax<Format, true>(a, b, mode) != most;
      wrong += minMax<Format, false>(a, b, c, mode) != minMaxOfValues<Format>(false, least, r, mode.nan);
      wrong += minMax<Format, true>(a, b, c, mode) != minMaxOfValues<Format>(true, most, r, mode.nan);
      if (!mode.abs) continue;
      const auto xorSigned = [&](Word w) {
        const bool negative = ((a ^ b) & Format::kSign) != 0;
        return std::isnan(decode<Format>(w)) ? w : negative ? static_cast<Word>(w | Format::kSign) : w;
      };
      const MinMaxMode xorMode{mode.ftz, mode.nan, true, true};
      wrong += minMax<Format, false>(a, b, xorMode) != xorSigned(least);
      wrong += minMax<Format, true>(a, b, xorMode) != xorSigned(most);
    }
    for (const bool ftz : {false, true}) {
      if (std::isnan(x)) {
        const bool wide = std::is_same_v<Format, F64>;
        wrong += absFloat<Format>(a, ftz) != (wide ? a : Format::kNaN);
        wrong += negFloat<Format>(a, ftz) != (wide ? static_cast<Word>(a ^ Format::kSign) : Format::kNaN);
      } else {
        const double value = decode<Format>(ftz ? flushed<Format>(a) : a);
        wrong += absFloat<Format>(a, ftz) != encode<Format>(std::fabs(value));
        wrong += negFloat<Format>(a, ftz) != encode<Format>(-value);
      }
    }
    const Word signedB = copySign<Format>(a, b);
    wrong += Format::isNegative(signedB) != Format::isNegative(a) || ((signedB ^ b) & Format::kMagnitude) != 0;
    const bool normal = x == 0 || (std::isfinite(x) && std::fabs(x) >= std::ldexp(1.0, Format::kLeastExponent));
    wrong += testFloat<Format>(FloatProperty::Finite, a) != std::isfinite(x);
    wrong += testFloat<Format>(FloatProperty::Infinite, a) != std::isinf(x);
    wrong += testFloat<Format>(FloatProperty::Number, a) == std::isnan(x);
    wrong += testFloat<Format>(FloatProperty::NotANumber, a) != std::isnan(x);
    wrong += testFloat<Format>(FloatProperty::Normal, a) != normal;
    wrong += testFloat<Format>(FloatProperty::Subnormal, a) != (std::isfinite(x) && !normal);
    wrong += Format::flush(a) != flushed<Format>(a);
  };
  for (const Word a : all)
    for (const Word b : all) check(a, b, random.next());
  for (int i = 0; i < cases(count); ++i) {
    const Word a = random.next(), b = random.next(), c = random.next();
    check(a, b, c);
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("exec: comparisons, min, max and signs of f16") { checkAll<F16>(5000); }
TEST_CASE("exec: comparisons, min, max and signs of bf16") { checkAll<Bf16>(5000); }
TEST_CASE("exec: comparisons, min, max and signs of f32") { checkAll<F32>(10000); }
TEST_CASE("exec: comparisons, min, max and signs of f64") { checkAll<F64>(10000); }

TEST_CASE("exec: zeros and NaNs in min, max and comparisons") {
  constexpr uint32_t zero = 0, minusZero = 0x80000000, one = 0x3f800000, nan = 0xffc00001;
  CHECK(minMax<F32, false>(zero, minusZero, {}) == minusZero);
  CHECK(minMax<F32, false>(minusZero, zero, {}) == minusZero);
  CHECK(minMax<F32, true>(zero, minusZero, {}) == zero);
  CHECK(minMax<F32, true>(minusZero, zero, {}) == zero);
  CHECK(minMax<F32, true>(nan, one, {}) == one);
  CHECK(minMax<F32, true>(nan, nan, {}) == 0x7fffffff);
  CHECK(minMax<F32, true>(nan, one, {.nan = true}) == 0x7fffffff);
  CHECK(minMax<F32, true>(0xc0000000, one, {.abs = true, .xorSign = true}) == 0xc0000000);
  CHECK(minMax<F32, true>(nan, one, {.abs = true, .xorSign = true}) == 0xbf800000);
  CHECK(compareFloat<F32>(FloatComparison::Eq, zero, minusZero));
  CHECK_FALSE(compareFloat<F32>(FloatComparison::Ne, nan, one));
  CHECK(compareFloat<F32>(FloatComparison::Neu, nan, nan));
  CHECK(copySign<F32>(minusZero, nan) == nan);
  CHECK(copySign<F32>(zero, nan) == 0x7fc00001);
}
