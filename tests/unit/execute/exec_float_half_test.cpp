// f16 and bf16: widening of every value, arithmetic against MPFR over grids and random triples, .ftz, .sat and
// .relu.
#include <doctest/doctest.h>

#include "exec/value/half.h"
#include "exec/value/half_arithmetic.h"
#include "exec_float_reference.h"

using namespace ptxopt::exec;
using namespace ptxopt::testing;

namespace {

template <class Format>
uint16_t apply(FloatOp op, uint16_t a, uint16_t b, uint16_t c, HalfMode mode) {
  switch (op) {
    case FloatOp::Add: return addHalf<Format>(a, b, mode);
    case FloatOp::Sub: return subHalf<Format>(a, b, mode);
    case FloatOp::Mul: return mulHalf<Format>(a, b, mode);
    default: return fmaHalf<Format>(a, b, c, mode);
  }
}

template <class Format>
uint16_t expected(FloatOp op, uint16_t a, uint16_t b, uint16_t c, HalfMode mode) {
  const auto flushed = [&](uint16_t x) {
    return static_cast<uint16_t>(mode.ftz && (x & Format::kInfinity) == 0 ? x & 0x8000 : x);
  };
  a = flushed(a), b = flushed(b), c = flushed(c);
  const uint16_t r =
      flushed(reference<Format>(op, decode<Format>(a), decode<Format>(b), decode<Format>(c), Rounding::Nearest));
  const double value = decode<Format>(r);
  if (mode.relu && (value < 0 || r == 0x8000)) return 0;
  if (mode.sat) return std::isnan(value) || value <= 0 ? 0 : value >= 1 ? encode<Format>(1) : r;
  return r;
}

template <class Format>
int mismatches(FloatOp op, HalfMode mode, uint16_t a, uint16_t b, uint16_t c) {
  const uint16_t want = expected<Format>(op, a, b, c, mode), got = apply<Format>(op, a, b, c, mode);
  if (want == got) return 0;
  CAPTURE(static_cast<int>(op));
  CAPTURE(a);
  CAPTURE(b);
  CAPTURE(c);
  CHECK(want == got);
  return 1;
}

constexpr FloatOp kOps[] = {FloatOp::Add, FloatOp::Sub, FloatOp::Mul, FloatOp::Fma};

template <class Format>
void checkArithmetic() {
  const auto all = edges<Format>();
  for (const FloatOp op : kOps) {
    int wrong = 0;
    // Strides without a common factor, so that every bit varies.
    for (unsigned a = 0; a < 0x10000 && wrong == 0; a += 331)
      for (unsigned b = 0; b < 0x10000 && wrong == 0; b += 397)
        wrong += mismatches<Format>(op, {}, static_cast<uint16_t>(a), static_cast<uint16_t>(b),
                                    static_cast<uint16_t>(a * 40503u + b * 9973u));
    for (int flags = 0; flags < 8 && wrong == 0; ++flags) {
      const HalfMode mode{(flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0};
      for (const uint16_t a : all)
        for (const uint16_t b : all)
          wrong += mismatches<Format>(op, mode, a, b, all[(a * 31u + b * 7u) % all.size()]);
      Operands<Format> random(static_cast<uint64_t>(flags + 1));
      for (int i = 0; i < cases(2000); ++i) {
        const uint16_t a = random.next(), b = random.next(), c = random.next();
        wrong += mismatches<Format>(op, mode, a, b, c);
        if (wrong != 0) break;
      }
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("exec: f16 and bf16 widen exactly") {
  int wrong = 0;
  for (unsigned i = 0; i < 0x10000; ++i) {
    const auto x = static_cast<uint16_t>(i);
    const double f16 = decode<F16>(x), bf16 = decode<Bf16>(x);
    const float f = widen<F16>(x), b = widen<Bf16>(x);
    wrong += std::isnan(f16) ? !std::isnan(f) : std::bit_cast<uint32_t>(f) != encode<F32>(f16);
    wrong += std::isnan(bf16) ? !std::isnan(b) : std::bit_cast<uint32_t>(b) != encode<F32>(bf16);
    wrong += std::signbit(f) != (i >= 0x8000) || std::signbit(b) != (i >= 0x8000);
  }
  CHECK(wrong == 0);
}

TEST_CASE("exec: narrowing from f64 rounds once") {
  int wrong = 0;
  Operands<F64> random(3);
  std::mt19937_64 bits(4);
  for (int i = 0; i < cases(40000); ++i) {
    uint64_t x = random.next();
    // Half of them within the range of f16 and around its least numbers.
    if (i % 2 == 0) x = (x & ~F64::kInfinity) | ((1023 - 30 + bits() % 50) << 52);
    const double value = std::bit_cast<double>(x);
    for (const Rounding rounding : kRoundings) {
      wrong += roundTo<F16>(value, rounding) != reference<F16>(FloatOp::Mul, value, 1, 0, rounding);
      wrong += roundTo<Bf16>(value, rounding) != reference<Bf16>(FloatOp::Mul, value, 1, 0, rounding);
      if (rounding == Rounding::Nearest) {
        wrong += roundToNearest<F16>(value) != reference<F16>(FloatOp::Mul, value, 1, 0, rounding);
        wrong += roundToNearest<Bf16>(value) != reference<Bf16>(FloatOp::Mul, value, 1, 0, rounding);
      }
      wrong += roundTo<F32>(value, rounding) != reference<F32>(FloatOp::Mul, value, 1, 0, rounding);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("exec: f16 arithmetic is correctly rounded") { checkArithmetic<F16>(); }

TEST_CASE("exec: bf16 arithmetic is correctly rounded") { checkArithmetic<Bf16>(); }

TEST_CASE("exec: half fma rounds once") {
  // 2049 lies between two f16; the addend decides, also where f32 or f64 would lose it.
  CHECK(fmaHalf<F16>(0x6800, 0x3c00, 0x3c01, {}) == 0x6801);   // 2048 + 1.001
  CHECK(fmaHalf<F16>(0x6801, 0x3c00, 0x3c00, {}) == 0x6802);   // 2050 + 1: to even
  CHECK(fmaHalf<Bf16>(0x3f83, 0x3fc0, 0x0000, {}) == 0x3fc4);  // a tie: 196.5 / 128
  CHECK(fmaHalf<Bf16>(0x3f83, 0x3fc0, 0x0001, {}) == 0x3fc5);  // a tie but for 2^-133
  CHECK(fmaHalf<Bf16>(0x3f81, 0x3fc0, 0x0000, {}) == 0x3fc2);
  CHECK(fmaHalf<Bf16>(0x3f81, 0x3fc0, 0x8001, {}) == 0x3fc1);
}
