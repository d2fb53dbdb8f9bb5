// Float to integer and float to float, against MPFR; the rules for NaN, .ftz, .sat, .relu and .satfinite.
#include <doctest/doctest.h>

#include <algorithm>

#include "exec/value/convert_fast.h"
#include "exec_convert_oracle.h"

using namespace convert_oracle;
using namespace ptxopt::exec;

namespace {

const std::vector<F> kWide = {F::F16, F::BF16, F::F32, F::F64};

uint64_t canonicalNan(F f) {
  return f == F::F32 ? 0x7fffffff : f == F::F64 ? 0x7fffffffe0000000 : f == F::TF32 ? 0x7fffe000 : 0x7fff;
}

// Sources wider than 16 bits in full for 16 bits only where the whole set is quick.
std::vector<uint64_t> some(F f, unsigned randoms, uint64_t step) {
  const std::vector<uint64_t> all = patterns(f, randoms);
  if (shape(f).bits > 16) return all;
  std::vector<uint64_t> result;
  for (uint64_t x = 0; x < all.size(); x += step) result.push_back(all[x]);
  return result;
}

}  // namespace

TEST_CASE("convert: float to integer") {
  Mpfr mpfr;
  struct Target {
    F f;
    int bits;
    bool isSignedType;
  };
  const std::vector<Target> targets = {{F::U8, 8, false},   {F::S8, 8, true},    {F::U16, 16, false},
                                       {F::S16, 16, true},  {F::U32, 32, false}, {F::S32, 32, true},
                                       {F::U64, 64, false}, {F::S64, 64, true}};
  for (F from : kWide)
    for (Rounding rounding : kRoundings) {
      std::vector<Differences> d(targets.size());
      for (uint64_t x : some(from, 300, 7)) {
        const long double v = value(x, from);
        const long double rounded = std::isfinite(v) ? mpfr.integral(v, rounding) : v;
        for (size_t i = 0; i < targets.size(); ++i) {
          const Target& t = targets[i];
          const long double largest = std::ldexp(1.0L, t.isSignedType ? t.bits - 1 : t.bits) - 1;
          const long double lowest = t.isSignedType ? -largest - 1 : 0;
          uint64_t expected;
          if (std::isnan(v)) {
            const bool zero = from != F::F64 && t.bits != 64;
            expected = zero ? 0 : static_cast<uint64_t>(t.isSignedType ? int64_t{-1} : int64_t{1}) << (t.bits - 1);
          } else {
            const long double y = std::clamp(rounded, lowest, largest);
            expected = y < 0 ? static_cast<uint64_t>(static_cast<int64_t>(y)) : static_cast<uint64_t>(y);
          }
          ConvertMode mode;
          mode.rounding = rounding;
          mode.toIntegral = true;
          mode.sat = (x & 1) != 0 && from != F::BF16;  // says nothing new
          d[i].compare(x, resolveConversion(from, t.f, mode)(x, mode), expected);
          mode.sat = false;
          d[i].compare(x, resolveConversion(from, t.f, mode)(x, mode), expected);
        }
      }
      for (size_t i = 0; i < targets.size(); ++i) {
        CAPTURE(static_cast<int>(from));
        CAPTURE(static_cast<int>(targets[i].f));
        CHECK_NO_DIFFERENCES(d[i]);
      }
    }
}

TEST_CASE("convert: float to float") {
  Mpfr mpfr;
  for (F from : kWide)
    for (F to : kWide) {
      if (from == to) continue;
      for (Rounding rounding : kRoundings) {
        ConvertMode mode;
        mode.rounding = rounding;
        const ConvertFunction f = resolveConversion(from, to, mode);
        REQUIRE((f != nullptr));
        Differences d;
        // In full to nearest, where the inline functions are.
        for (uint64_t x : some(from, 4000, rounding == Rounding::Nearest ? 1 : 5)) {
          if (isNan(x, from)) continue;
          const uint64_t expected = mpfr.rounded(value(x, from), to, rounding);
          d.compare(x, f(x, mode), expected);
          d.compare(x, convert(x, from, to, mode), expected);
        }
        CAPTURE(static_cast<int>(from));
        CAPTURE(static_cast<int>(to));
        CAPTURE(static_cast<int>(rounding));
        CHECK_NO_DIFFERENCES(d);
      }
    }
}

TEST_CASE("convert: rounding to an integer of the same type") {
  Mpfr mpfr;
  for (F type : kWide)
    for (Rounding rounding : kRoundings) {
      ConvertMode mode;
      mode.rounding = rounding;
      mode.toIntegral = true;
      const ConvertFunction f = resolveConversion(type, type, mode);
      Differences d;
      for (uint64_t x : some(type, 2000, 5)) {
        if (isNan(x, type)) continue;
        const long double v = value(x, type);
        // The sign stays when the number becomes zero.
        const long double y = std::isinf(v) ? v : std::copysign(mpfr.integral(v, rounding), v);
        d.compare(x, f(x, mode), code(y, type));
      }
      CHECK_NO_DIFFERENCES(d);
    }
}

TEST_CASE("convert: NaN between floats") {
  const ConvertMode mode;
  // Of f64 and f32, the sign and the first bits of the fraction stay.
  CHECK(convert(0xfff8123456789abc, F::F64, F::F32, mode) == 0xffc091a2);
  CHECK(convert(0x7ff0000000000001, F::F64, F::F32, mode) == 0x7fc00000);
  CHECK(convert(0x7fc12345, F::F32, F::F64, mode) == 0x7ff82468a0000000);
  CHECK(convert(0xff800001, F::F32, F::F64, mode) == 0xfff8000020000000);
  CHECK(convert(0xff81, F::BF16, F::F64, mode) == 0xfff8200000000000);
  CHECK(convert(0xfe01, F::F16, F::F64, mode) == 0xfff8040000000000);
  CHECK(convert(0xfff8123456789abc, F::F64, F::F16, mode) == 0xfe04);
  CHECK(convert(0x7ff0000000000001, F::F64, F::BF16, mode) == 0x7fc0);
  for (uint64_t x : {uint64_t{0x7c01}, uint64_t{0xfe01}})
    for (F to : {F::BF16, F::F32}) CHECK(convert(x, F::F16, to, mode) == canonicalNan(to));
  for (uint64_t x : {uint64_t{0x7f800001}, uint64_t{0xffc12345}})
    for (F to : {F::F16, F::BF16, F::TF32}) {
      ConvertMode m;
      CHECK(convert(x, F::F32, to, m) == canonicalNan(to));
      m.relu = m.satfinite = true;
      CHECK(convert(x, F::F32, to, m) == canonicalNan(to));
    }
  // bf16 to f32 is a shift.
  CHECK(convert(0x7f81, F::BF16, F::F32, mode) == 0x7f810000);
  CHECK(convert(0xff81, F::BF16, F::F16, mode) == 0x7fff);
  // A type to itself.
  CHECK(convert(0xff800001, F::F32, F::F32, mode) == 0xff800001);
  CHECK(convert(0xfe01, F::F16, F::F16, mode) == 0xfe01);
  ConvertMode integral;
  integral.toIntegral = true;
  CHECK(convert(0xff800001, F::F32, F::F32, integral) == 0x7fffffff);
  CHECK(convert(0x7ff0000000000001, F::F64, F::F64, integral) == 0x7ff8000000000001);
  ConvertMode ftz;
  ftz.ftz = true;
  CHECK(convert(0xff800001, F::F32, F::F32, ftz) == 0x7fffffff);
  CHECK(convert(0xff800001, F::F32, F::F64, ftz) == 0x7fffffffe0000000);
}

TEST_CASE("convert: the inline functions equal the general ones, NaN included") {
  Differences d;
  for (uint64_t x : patterns(F::F32, 20000)) {
    const auto bits = static_cast<uint32_t>(x);
    const auto f = std::bit_cast<float>(bits);
    ConvertMode mode;
    d.compare(x, halfFromFloat(bits), convert(x, F::F32, F::F16, mode));
    d.compare(x, bfloatFromFloat(bits), convert(x, F::F32, F::BF16, mode));
    d.compare(x, std::bit_cast<uint64_t>(widened(f)), convert(x, F::F32, F::F64, mode));
    mode.toIntegral = true;
    mode.rounding = Rounding::Zero;
    d.compare(x, static_cast<uint64_t>(int64_t{truncatedToS32(f)}), convert(x, F::F32, F::S32, mode));
    d.compare(x, truncatedToU32(f), convert(x, F::F32, F::U32, mode));
  }
  for (uint64_t x : patterns(F::F64, 20000))
    d.compare(x, std::bit_cast<uint32_t>(narrowedNearest(std::bit_cast<double>(x))),
              convert(x, F::F64, F::F32, {}));
  for (uint64_t x = 0; x < 0x10000; ++x) {
    d.compare(x, floatFromHalf(static_cast<uint16_t>(x)), convert(x, F::F16, F::F32, {}));
    d.compare(x, floatFromBfloat(static_cast<uint16_t>(x)), convert(x, F::BF16, F::F32, {}));
  }
  CHECK_NO_DIFFERENCES(d);
}

TEST_CASE("convert: .ftz") {
  Mpfr mpfr;
  ConvertMode mode;
  mode.ftz = true;
  // Sources: a subnormal f32 is a zero of its sign, and nothing else changes.
  for (F to : {F::F16, F::BF16, F::F64}) {
    const ConvertMode none;
    Differences d;
    for (uint64_t x : patterns(F::F32, 500)) {
      if (isNan(x, F::F32)) continue;
      const bool subnormal = std::fabs(value(x, F::F32)) < 0x1p-126L;
      d.compare(x, convert(x, F::F32, to, mode), convert(subnormal ? x & 0x80000000 : x, F::F32, to, none));
    }
    CHECK_NO_DIFFERENCES(d);
  }
  // Results: below the normal numbers after rounding to 24 digits.
  for (Rounding rounding : kRoundings) {
    mode.rounding = rounding;
    Differences d;
    for (uint64_t x : patterns(F::F64, 500)) {
      if (isNan(x, F::F64)) continue;
      const long double v = value(x, F::F64);
      uint64_t expected = mpfr.rounded(v, F::F32, rounding);
      // The same number in the middle of the range tells whether 24 digits reach the smallest normal number.
      const bool scalable = std::fabs(v) < 0x1p-120L && std::fabs(v) > 0x1p-180L;
      const bool tiny =
          scalable ? std::fabs(value(mpfr.rounded(std::ldexp(v, 100), F::F32, rounding), F::F32)) < 0x1p-26L
                   : std::fabs(v) < 0x1p-126L;
      if (tiny) expected &= 0x80000000;
      d.compare(x, convert(x, F::F64, F::F32, mode), expected);
    }
    CHECK_NO_DIFFERENCES(d);
  }
  mode.rounding = Rounding::Nearest;
  CHECK(convert(std::bit_cast<uint64_t>(0x1.ffffffp-127), F::F64, F::F32, mode) == 0x00800000);  // tie, to even
  CHECK(convert(std::bit_cast<uint64_t>(0x1.fffffep-127), F::F64, F::F32, mode) == 0);
  CHECK(convert(std::bit_cast<uint64_t>(-0x1p-140), F::F64, F::F32, mode) == 0x80000000);
  CHECK(convert(0x0001, F::BF16, F::F32, mode) == 0);
  CHECK(convert(0x807f, F::BF16, F::F32, mode) == 0x80000000);
  CHECK(convert(0x0001, F::F16, F::F32, mode) == 0x33800000);  // normal in f32
  mode.toIntegral = true;
  mode.rounding = Rounding::Up;
  CHECK(convert(1, F::F32, F::S32, mode) == 0);
  CHECK(convert(1, F::F32, F::F32, mode) == 0);
  mode.rounding = Rounding::Down;
  CHECK(convert(0x80000001, F::F32, F::F32, mode) == 0x80000000);
  mode.ftz = false;
  CHECK(convert(0x80000001, F::F32, F::S32, mode) == ~uint64_t{0});
  CHECK(convert(0x80000001, F::F32, F::F32, mode) == 0xbf800000);
}

TEST_CASE("convert: .sat clamps floats to 0 .. 1") {
  for (F from : {F::F16, F::F32, F::F64})
    for (F to : {F::F16, F::F32, F::F64}) {
      ConvertMode mode;
      const ConvertMode none;
      mode.sat = true;
      const ConvertFunction f = resolveConversion(from, to, mode);
      REQUIRE((f != nullptr));
      Differences d;
      for (uint64_t x : some(from, 200, 3)) {
        const uint64_t plain = convert(x, from, to, none);
        const long double v = value(plain, to);
        const uint64_t expected = std::isnan(v) || v <= 0 ? 0 : v > 1 ? code(1, to) : plain;
        d.compare(x, f(x, mode), expected);
      }
      CHECK_NO_DIFFERENCES(d);
    }
}

TEST_CASE("convert: .relu and .satfinite from f32") {
  Mpfr mpfr;
  for (F to : {F::F16, F::BF16})
    for (Rounding rounding : {Rounding::Nearest, Rounding::Zero})
      for (int modifiers = 1; modifiers < 4; ++modifiers) {
        ConvertMode mode;
        mode.rounding = rounding;
        mode.relu = (modifiers & 1) != 0;
        mode.satfinite = (modifiers & 2) != 0;
        Differences d;
        const uint64_t largest = to == F::F16 ? 0x7bff : 0x7f7f;
        for (uint64_t x : patterns(F::F32, 1000)) {
          if (isNan(x, F::F32)) continue;
          uint64_t expected = mpfr.rounded(value(x, F::F32), to, rounding);
          if (mode.satfinite && (expected & 0x7fff) > largest) expected = (expected & 0x8000) | largest;
          if (mode.relu && std::signbit(value(x, F::F32))) expected = 0;
          d.compare(x, resolveConversion(F::F32, to, mode)(x, mode), expected);
        }
        CHECK_NO_DIFFERENCES(d);
      }
}

TEST_CASE("convert: tf32") {
  enum { kNearest, kZero, kAway };
  for (int kind : {kNearest, kZero, kAway})
    for (bool satfinite : {false, true}) {
      ConvertMode mode;
      mode.rounding = kind == kZero ? Rounding::Zero : Rounding::Nearest;
      mode.tiesAway = kind == kAway;
      mode.satfinite = satfinite;
      const ConvertFunction f = resolveConversion(F::F32, F::TF32, mode);
      REQUIRE((f != nullptr));
      Differences d;
      for (uint64_t x : patterns(F::F32, 3000)) {
        if (isNan(x, F::F32)) continue;
        const long double v = std::fabs(value(x, F::F32));
        const uint64_t below = x & 0x7fffe000, above = below + 0x2000;
        uint64_t expected = below;
        if (std::isfinite(v) && kind != kZero) {
          // Infinity stands for 2^128 here.
          const long double up = (above == 0x7f800000 ? 0x1p128L : value(above, F::F32)) - v;
          const long double down = v - value(below, F::F32);
          const bool odd = (below >> 13 & 1) != 0;
          if (up < down || (up == down && (kind == kAway || odd))) expected = above;
        }
        if (satfinite && expected == 0x7f800000) expected = 0x7f7fe000;
        d.compare(x, f(x, mode), expected | (x & 0x80000000));
      }
      CHECK_NO_DIFFERENCES(d);
    }
  ConvertMode away;
  away.tiesAway = true;
  CHECK(convert(0x7fc12345, F::F32, F::TF32, away) == 0x7fc12000);
  CHECK(convert(0x7f800001, F::F32, F::TF32, away) == 0x7fffe000);
  CHECK(convert(0xffffffff, F::F32, F::TF32, away) == 0xffffe000);
  ConvertMode relu;
  relu.relu = true;
  CHECK(convert(0xbf800000, F::F32, F::TF32, relu) == 0);
  CHECK(convert(0xff800000, F::F32, F::TF32, relu) == 0);
  CHECK(convert(0x3f801000, F::F32, F::TF32, relu) == 0x3f800000);
}

TEST_CASE("convert: what PTX does not have") {
  ConvertMode m;
  CHECK((resolveConversion(F::F32, F::S32, m) == nullptr));  // no integer rounding
  CHECK((resolveConversion(F::TF32, F::F32, m) == nullptr));
  CHECK((resolveConversion(F::F64, F::TF32, m) == nullptr));
  CHECK((resolveConversion(F::F32, F::E4M3, m) == nullptr));  // not without .satfinite
  m.toIntegral = true;
  CHECK((resolveConversion(F::F16, F::F32, m) == nullptr));
  CHECK((resolveConversion(F::S32, F::F32, m) == nullptr));
  m = {};
  m.ftz = true;
  CHECK((resolveConversion(F::F16, F::F64, m) == nullptr));
  CHECK((resolveConversion(F::S32, F::S64, m) == nullptr));
  CHECK((resolveConversion(F::F64, F::F32, m) != nullptr));
  m = {};
  m.relu = true;
  CHECK((resolveConversion(F::F64, F::F16, m) == nullptr));
  CHECK((resolveConversion(F::F16, F::BF16, m) == nullptr));
  m.rounding = Rounding::Up;
  CHECK((resolveConversion(F::F32, F::F16, m) == nullptr));
  m = {};
  m.sat = true;
  CHECK((resolveConversion(F::F32, F::BF16, m) == nullptr));
  m = {};
  m.tiesAway = true;
  CHECK((resolveConversion(F::F32, F::F16, m) == nullptr));
  m.relu = true;
  CHECK((resolveConversion(F::F32, F::TF32, m) == nullptr));
}
