// Integer conversions and integer to float, against 128-bit arithmetic and MPFR.
#include <doctest/doctest.h>

#include <algorithm>

#include "exec_convert_oracle.h"

using namespace convert_oracle;
using namespace ptxopt::exec;

namespace {

__extension__ typedef __int128 Wide;

const std::vector<F> kIntegers = {F::U8, F::S8, F::U16, F::S16, F::U32, F::S32, F::U64, F::S64};

struct Range {
  unsigned bits;
  Wide lowest, largest;
};
Range range(F f) {
  const bool isSignedType = f == F::S8 || f == F::S16 || f == F::S32 || f == F::S64;
  const unsigned bits = f <= F::S8 ? 8 : f <= F::S16 ? 16 : f <= F::S32 ? 32 : 64;
  if (isSignedType) return {bits, -(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1};
  return {bits, 0, (Wide{1} << bits) - 1};
}

// The number that the low bits stand for.
Wide number(uint64_t pattern, F f) {
  const Range r = range(f);
  Wide x = static_cast<Wide>(pattern) % (Wide{1} << r.bits);
  return x > r.largest ? x - (Wide{1} << r.bits) : x;
}

}  // namespace

TEST_CASE("convert: integer to integer") {
  for (F from : kIntegers)
    for (F to : kIntegers)
      for (bool sat : {false, true}) {
        ConvertMode mode;
        mode.sat = sat;
        const ConvertFunction f = resolveConversion(from, to, mode);
        REQUIRE((f != nullptr));
        const Range r = range(to);
        Differences d;
        for (uint64_t x : integerPatterns(range(from).bits, 100)) {
          const uint64_t dirty = x | (range(from).bits < 64 ? 0xa5a5a5a5a5a5a5a5 << range(from).bits : 0);
          const Wide source = number(x, from);
          const Wide expected =
              sat ? std::clamp(source, r.lowest, r.largest) : number(static_cast<uint64_t>(source), to);
          d.compare(x, f(dirty, mode), static_cast<uint64_t>(expected));
        }
        CAPTURE(static_cast<int>(from));
        CAPTURE(static_cast<int>(to));
        CHECK_NO_DIFFERENCES(d);
      }
}

TEST_CASE("convert: cvt.pack") {
  const std::vector<int32_t> values = {0,     1,     -1,    2,     -2,     3,      7,         8,        -8,
                                       -9,    15,    16,    127,   128,    255,    256,       -128,     -129,
                                       32767, 32768, 65535, 65536, -32768, -32769, INT32_MAX, INT32_MIN};
  for (unsigned bits : {2u, 4u, 8u, 16u})
    for (bool isSignedType : {false, true}) {
      Differences d;
      const int64_t largest = isSignedType ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
      const int64_t lowest = isSignedType ? -(int64_t{1} << (bits - 1)) : 0;
      for (int32_t a : values)
        for (int32_t b : values) {
          const uint32_t c = 0x9b3df124;
          const auto fieldA = static_cast<uint64_t>(std::clamp<int64_t>(a, lowest, largest)) % (1u << bits);
          const auto fieldB = static_cast<uint64_t>(std::clamp<int64_t>(b, lowest, largest)) % (1u << bits);
          const uint64_t above = bits == 16 ? 0 : uint64_t{c} * (1u << bits) * (1u << bits);
          d.compare(static_cast<uint64_t>(a), convertPack(a, b, c, bits, isSignedType),
                    static_cast<uint32_t>(above + fieldA * (1u << bits) + fieldB));
        }
      CHECK_NO_DIFFERENCES(d);
    }
  // The example of the ISA's use: four numbers into bytes, by two steps.
  CHECK(convertPack(1, 300, convertPack(-5, 7, 0, 8, false), 8, false) == 0x000701ff);
}

TEST_CASE("convert: integer to float") {
  Mpfr mpfr;
  for (F from : kIntegers)
    for (F to : {F::F16, F::BF16, F::F32, F::F64})
      for (Rounding rounding : kRoundings) {
        ConvertMode mode;
        mode.rounding = rounding;
        const ConvertFunction f = resolveConversion(from, to, mode);
        REQUIRE((f != nullptr));
        Differences d;
        for (uint64_t x : integerPatterns(range(from).bits, 60)) {
          const uint64_t expected = mpfr.rounded(static_cast<long double>(number(x, from)), to, rounding);
          d.compare(x, f(x, mode), expected);
          d.compare(x, convert(x, from, to, mode), expected);
        }
        CAPTURE(static_cast<int>(from));
        CAPTURE(static_cast<int>(to));
        CHECK_NO_DIFFERENCES(d);
      }
}

TEST_CASE("convert: integer to float with .sat and at the edges") {
  ConvertMode sat;
  sat.sat = true;
  CHECK(convert(5, F::U32, F::F32, sat) == 0x3f800000);
  CHECK(convert(0, F::S32, F::F16, sat) == 0);
  CHECK(convert(0xffffffff, F::S32, F::F32, sat) == 0);
  CHECK((resolveConversion(F::S32, F::BF16, sat) == nullptr));
  ConvertMode mode;
  CHECK(convert(65519, F::U32, F::F16, mode) == 0x7bff);
  CHECK(convert(65520, F::U32, F::F16, mode) == 0x7c00);
  mode.rounding = Rounding::Zero;
  CHECK(convert(0xffffffff, F::U32, F::F16, mode) == 0x7bff);
  CHECK(convert(uint64_t{1} << 63, F::S64, F::F16, mode) == 0xfbff);
  mode.rounding = Rounding::Down;
  CHECK(convert(uint64_t{1} << 63, F::S64, F::F16, mode) == 0xfc00);
  CHECK(convert(~uint64_t{0}, F::U64, F::F64, mode) == 0x43efffffffffffff);
}
