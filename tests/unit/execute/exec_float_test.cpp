// f32 and f64 arithmetic against MPFR: each operation, rounding, .ftz and .sat, bit for bit.
#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "exec/value/float_arithmetic.h"
#include "exec/value/float_nearest.h"
#include "exec_float_reference.h"

using namespace ptxopt::exec;
using namespace ptxopt::testing;

namespace {

float f32(uint32_t x) { return std::bit_cast<float>(x); }
double f64(uint64_t x) { return std::bit_cast<double>(x); }
uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }

float apply(FloatOp op, float a, float b, float c, FloatMode mode) {
  switch (op) {
    case FloatOp::Add: return add(a, b, mode);
    case FloatOp::Sub: return sub(a, b, mode);
    case FloatOp::Mul: return mul(a, b, mode);
    case FloatOp::Fma: return fma(a, b, c, mode);
    case FloatOp::Div: return div(a, b, mode);
    case FloatOp::Sqrt: return sqrt(a, mode);
  }
  return 0;
}

double apply(FloatOp op, double a, double b, double c, Rounding rounding) {
  switch (op) {
    case FloatOp::Add: return add(a, b, rounding);
    case FloatOp::Sub: return sub(a, b, rounding);
    case FloatOp::Mul: return mul(a, b, rounding);
    case FloatOp::Fma: return fma(a, b, c, rounding);
    case FloatOp::Div: return div(a, b, rounding);
    case FloatOp::Sqrt: return sqrt(a, rounding);
  }
  return 0;
}

int operandCount(FloatOp op) { return op == FloatOp::Sqrt ? 1 : op == FloatOp::Fma ? 3 : 2; }

uint32_t expected(FloatOp op, uint32_t a, uint32_t b, uint32_t c, FloatMode mode) {
  if (mode.ftz) a = F32::flush(a), b = F32::flush(b), c = F32::flush(c);
  uint32_t r = reference<F32>(op, decode<F32>(a), decode<F32>(b), decode<F32>(c), mode.rounding);
  if (mode.ftz && (r & 0x7f800000) == 0) r &= 0x80000000;
  if (mode.sat) {
    const double value = decode<F32>(r);
    if (std::isnan(value) || value <= 0) return 0;
    if (value >= 1) return 0x3f800000;
  }
  return r;
}

uint64_t expected(FloatOp op, uint64_t a, uint64_t b, uint64_t c, Rounding rounding) {
  const uint64_t operands[] = {a, b, c};
  for (int i = 0; i < operandCount(op); ++i)
    if (std::isnan(f64(operands[i]))) return operands[i] | 0x0008000000000000;
  return reference<F64>(op, f64(a), f64(b), f64(c), rounding);
}

// Calls `check` with all pairs of edges and with random triples.
template <class Format, class Check>
void forOperands(int count, Check&& check) {
  const auto all = edges<Format>();
  for (const auto a : all)
    for (const auto b : all) check(a, b, all[(a * 31 + b * 7) % all.size()]);
  Operands<Format> random(static_cast<uint64_t>(count));
  for (int i = 0; i < cases(count); ++i) {
    const auto a = random.next(), b = random.next(), c = random.next();
    check(a, b, c);
  }
}

constexpr FloatOp kOps[] = {FloatOp::Add, FloatOp::Sub, FloatOp::Mul, FloatOp::Fma, FloatOp::Div, FloatOp::Sqrt};

struct Mismatches {
  int count = 0;
  std::string first;
  template <class... Values>
  void add(const char* format, Values... values) {
    if (count++ != 0) return;
    char text[200];
    std::snprintf(text, sizeof text, format, values...);
    first = text;
  }
};

}  // namespace

TEST_CASE("exec: f32 arithmetic is correctly rounded, with .ftz and .sat") {
  for (const FloatOp op : kOps)
    for (const Rounding rounding : kRoundings)
      for (int flags = 0; flags < 3; ++flags) {
        const FloatMode mode{rounding, flags == 1, flags == 2};
        Mismatches wrong;
        forOperands<F32>(flags == 0 ? 4000 : 1500, [&](uint32_t a, uint32_t b, uint32_t c) {
          const uint32_t want = expected(op, a, b, c, mode);
          const uint32_t got = bits(apply(op, f32(a), f32(b), f32(c), mode));
          if (want != got)
            wrong.add("op %d: %08x %08x %08x: %08x, not %08x", static_cast<int>(op), a, b, c, got, want);
        });
        INFO("rounding " << static_cast<int>(rounding) << " flags " << flags << ": " << wrong.first);
        CHECK(wrong.count == 0);
      }
}

TEST_CASE("exec: the plain f32 and f64 forms are correctly rounded") {
  Mismatches wrong;
  constexpr FloatMode plain{};
  forOperands<F32>(15000, [&](uint32_t a, uint32_t b, uint32_t c) {
    const float x = f32(a), y = f32(b), z = f32(c);
    if (bits(addNearest(x, y)) != expected(FloatOp::Add, a, b, c, plain)) wrong.add("add %08x %08x", a, b);
    if (bits(subNearest(x, y)) != expected(FloatOp::Sub, a, b, c, plain)) wrong.add("sub %08x %08x", a, b);
    if (bits(mulNearest(x, y)) != expected(FloatOp::Mul, a, b, c, plain)) wrong.add("mul %08x %08x", a, b);
    if (bits(fmaNearest(x, y, z)) != expected(FloatOp::Fma, a, b, c, plain))
      wrong.add("fma %08x %08x %08x", a, b, c);
    if (bits(divNearest(x, y)) != expected(FloatOp::Div, a, b, c, plain)) wrong.add("div %08x %08x", a, b);
    if (bits(sqrtNearest(x)) != expected(FloatOp::Sqrt, a, b, c, plain)) wrong.add("sqrt %08x", a);
  });
  INFO(wrong.first);
  CHECK(wrong.count == 0);
}

// Sums one bit beyond what f64 holds, next to an f32 midpoint: what goes wrong when fma is rounded twice.
TEST_CASE("exec: f32 fma rounds once") {
  Mismatches wrong;
  std::mt19937_64 random(7);
  for (int i = 0; i < cases(20000); ++i) {
    // A product of odd 24-bit numbers has 48 bits; as an addend, a power of two or three far above makes a tie of
    // the leading part, or one far below breaks it.
    const uint32_t a = 0x3f800001u + (static_cast<uint32_t>(random()) & 0x1ff) * 2;
    const uint32_t b = 0x3f800001u + (static_cast<uint32_t>(random()) & 0x3ff) * 2;
    const int exponent = 127 + static_cast<int>(random() % 120) - 60;
    const uint32_t c = (static_cast<uint32_t>(exponent) << 23) | (static_cast<uint32_t>(random()) & 0x80400001u);
    for (const Rounding rounding : kRoundings) {
      const uint32_t want = expected(FloatOp::Fma, a, b, c, FloatMode{rounding});
      if (bits(fma(f32(a), f32(b), f32(c), FloatMode{rounding})) != want) wrong.add("%08x %08x %08x", a, b, c);
    }
  }
  // 1 + 2^-24 exactly is a tie that goes to 1; a term of 2^-149 above it must decide.
  CHECK(fmaNearest(0x1p-100f, 0x1p-49f, 1.0f + 0x1p-23f) == 1.0f + 0x1p-23f);
  CHECK(fmaNearest(1.0f + 0x1p-12f, 1.0f + 0x1p-12f, 0x1p-60f) == 1.0f + 0x1p-11f + 0x1p-23f);
  CHECK(fmaNearest(1.0f + 0x1p-12f, 1.0f + 0x1p-12f, -0x1p-60f) == 1.0f + 0x1p-11f);
  INFO(wrong.first);
  CHECK(wrong.count == 0);
}

TEST_CASE("exec: f64 arithmetic is correctly rounded") {
  for (const FloatOp op : kOps)
    for (const Rounding rounding : kRoundings) {
      Mismatches wrong;
      forOperands<F64>(6000, [&](uint64_t a, uint64_t b, uint64_t c) {
        const uint64_t want = expected(op, a, b, c, rounding);
        const uint64_t got = bits(apply(op, f64(a), f64(b), f64(c), rounding));
        if (want != got)
          wrong.add("op %d: %016lx %016lx %016lx: %016lx, not %016lx", static_cast<int>(op), a, b, c, got, want);
      });
      INFO("rounding " << static_cast<int>(rounding) << ": " << wrong.first);
      CHECK(wrong.count == 0);
    }
}

TEST_CASE("exec: reciprocals, NaN results, signed zeros") {
  for (const Rounding rounding : kRoundings) {
    CHECK(bits(rcp(3.0f, FloatMode{rounding})) == reference<F32>(FloatOp::Div, 1, 3, 0, rounding));
    CHECK(bits(rcp(3.0, rounding)) == reference<F64>(FloatOp::Div, 1, 3, 0, rounding));
    CHECK(bits(rcp(-0.0f, FloatMode{rounding})) == 0xff800000);
    CHECK(bits(add(1.0f, -1.0f, FloatMode{rounding})) == (rounding == Rounding::Down ? 0x80000000 : 0));
    CHECK(bits(sqrt(-1.0f, FloatMode{rounding})) == 0x7fffffff);
    CHECK(bits(sqrt(-0.0f, FloatMode{rounding})) == 0x80000000);
    CHECK(bits(sqrt(f32(0x80000001), FloatMode{rounding, true})) == 0x80000000);
    CHECK(bits(sqrt(-1.0, rounding)) == 0xfff8000000000000);
  }
  const float nan = f32(0xffc12345);
  CHECK(bits(addNearest(nan, 1.0f)) == 0x7fffffff);
  CHECK(bits(fma(1.0f, nan, 1.0f, FloatMode())) == 0x7fffffff);
  CHECK(bits(fma(1.0f, nan, 1.0f, FloatMode{Rounding::Up, false, true})) == 0);
  const double signaling = f64(0x7ff0000000000007), quiet = f64(0xfff8000000000009);
  CHECK(bits(addNearest(signaling, quiet)) == 0x7ff8000000000007);
  CHECK(bits(addNearest(quiet, signaling)) == 0xfff8000000000009);
  CHECK(bits(fmaNearest(1.0, quiet, signaling)) == 0xfff8000000000009);
  CHECK(bits(sub(INFINITY, static_cast<double>(INFINITY), Rounding::Up)) == 0xfff8000000000000);
}

TEST_CASE("exec: .ftz asks whether the rounded result is subnormal") {
  // (1 - 2^-24) 2^-126 rounds to 2^-126 to nearest, not towards zero.
  const float almostOne = f32(0x3f7fffff), least = f32(0x00800000);
  CHECK(bits(mul(almostOne, least, FloatMode{Rounding::Zero, true})) == 0);
  CHECK(bits(mul(f32(0x3f7ffffe), least, FloatMode{Rounding::Nearest, true})) == 0);
  CHECK(bits(mul(almostOne, least, FloatMode{Rounding::Nearest, true})) == 0x00800000);
  CHECK(bits(mul(f32(0x00000001), 0x1p100f, FloatMode{Rounding::Up, true})) == 0);
  CHECK(bits(mul(f32(0x80000001), 0x1p100f, FloatMode{Rounding::Up, true})) == 0x80000000);
}

TEST_CASE("exec: f16 and bf16 in f32 arithmetic") {
  CHECK(addMixed<F16>(0x3c00, 0x1p-24f, FloatMode{Rounding::Up}) == 1.0f + 0x1p-23f);
  CHECK(addMixed<Bf16>(0x3f80, 0x1p-24f, FloatMode()) == 1.0f);
  CHECK(subMixed<F16>(0x0001, 1.0f, FloatMode()) == -1.0f + 0x1p-24f);
  CHECK(fmaMixed<Bf16>(0x3f81, 0x3f81, -1.0f, FloatMode()) == 0x1p-6f + 0x1p-14f);
  CHECK(fmaMixed<F16>(0x7bff, 0x7bff, 1.0f, FloatMode{Rounding::Nearest, false, true}) == 1.0f);
  CHECK(bits(addMixed<F16>(0x7e01, 1.0f, FloatMode())) == 0x7fffffff);
}
