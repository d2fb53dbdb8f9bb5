// The approximate functions: within the ISA's bounds of error against MPFR, the ISA's special cases, and nearly
// always the correctly rounded value, which is what approximate.h says they give.
#include <doctest/doctest.h>

#include "exec/value/approximate.h"
#include "exec/value/half.h"
#include "exec_float_reference.h"

using namespace ptxopt::exec;
using namespace ptxopt::testing;

namespace {

float f32(uint32_t x) { return std::bit_cast<float>(x); }
uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }

constexpr uint32_t kNaN = 0x7fffffff, kPlusInf = 0x7f800000, kMinusInf = 0xff800000;

using Unary = float (*)(float, bool);
using Exact = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

int reciprocal(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rnd) { return mpfr_ui_div(r, 1, x, rnd); }

// Exact values to 120 bits, and their errors in units of what the caller asks.
struct Errors {
  double ulp = 0, relative = 0, absolute = 0;
  int notNearest = 0, count = 0;

  template <class Format>
  void add(Exact exact, typename Format::Word x, typename Format::Word got) {
    static Mpfr value(120), argument(53), difference(120);
    mpfr_set_d(argument, decode<Format>(x), MPFR_RNDN);
    exact(value, argument, MPFR_RNDN);
    const double nearest = mpfr_get_d(value, MPFR_RNDN);
    if (!std::isfinite(decode<Format>(got)) || !std::isfinite(nearest)) {
      // Only where the exact value is out of range, too.
      if (std::isfinite(decode<Format>(got)) || std::fabs(nearest) < decode<Format>(Format::kLargest))
        ulp = INFINITY;
      return;
    }
    ++count;
    mpfr_d_sub(difference, decode<Format>(got), value, MPFR_RNDN);
    const double error = std::fabs(mpfr_get_d(difference, MPFR_RNDN));
    const int exponent =
        nearest == 0 ? Format::kLeastExponent : std::max(std::ilogb(nearest), Format::kLeastExponent);
    const double unit = std::ldexp(1.0, exponent - Format::kMantissaBits);
    ulp = std::max(ulp, error / unit);
    notNearest += error > unit / 2;
    absolute = std::max(absolute, error);
    if (std::fabs(nearest) >= std::ldexp(1.0, Format::kLeastExponent))
      relative = std::max(relative, error / std::fabs(nearest));
  }
};

// f32 of exponents from `low` to `high`, of both signs.
Errors measure(Unary function, Exact exact, int low, int high, bool positive = false) {
  Errors errors;
  std::mt19937_64 random(5);
  for (int i = 0; i < cases(12000); ++i) {
    const auto exponent =
        static_cast<uint32_t>(127 + low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1)));
    uint32_t x = (static_cast<uint32_t>(random()) & 0x807fffff) | (exponent << 23);
    if (positive) x &= 0x7fffffff;
    errors.add<F32>(exact, x, bits(function(f32(x), false)));
  }
  return errors;
}

// The ISA's tables: inputs and results as bit patterns.
void checkTable(Unary function, bool ftz, const std::vector<std::pair<uint32_t, uint32_t>>& table) {
  for (const auto& entry : table) {
    const uint32_t x = entry.first, result = entry.second;
    CAPTURE(x);
    CHECK(bits(function(f32(x), ftz)) == result);
  }
}

}  // namespace

TEST_CASE("exec: rcp, sqrt, rsqrt, lg2, ex2 within the documented error") {
  CHECK(measure(rcpApprox, reciprocal, -127, 127).ulp <= 0.5);
  CHECK(measure(sqrtApprox, mpfr_sqrt, -127, 127, true).ulp <= 0.5);
  CHECK(measure(rsqrtApprox, mpfr_rec_sqrt, -127, 127, true).ulp <= 0.5 + 1e-6);
  CHECK(measure(rsqrtApprox, mpfr_rec_sqrt, -126, 127, true).relative <= std::exp2(-22.9));
  const Errors log = measure(lg2Approx, mpfr_log2, -127, 127, true);
  CHECK(log.ulp <= 0.5 + 1e-6);
  CHECK(log.relative <= std::exp2(-22));
  const Errors nearOne = measure(lg2Approx, mpfr_log2, -1, 0, true);
  CHECK(nearOne.absolute <= std::exp2(-22));
  CHECK(nearOne.ulp <= 0.5 + 1e-6);
  CHECK(measure(ex2Approx, mpfr_exp2, -30, 7).ulp <= 0.5 + 1e-6);
  // Results at and below the least normal number.
  Errors small;
  for (int i = 0; i < cases(5000); ++i) {
    const float x = -120.0f - 30.0f * static_cast<float>(i) / 5000.0f;
    small.add<F32>(mpfr_exp2, bits(x), bits(ex2Approx(x, false)));
  }
  CHECK(small.ulp <= 0.5 + 1e-6);
}

TEST_CASE("exec: sin and cos within the documented error") {
  CHECK(measure(sinApprox, mpfr_sin, -20, 2).absolute <= std::exp2(-20.5));
  CHECK(measure(cosApprox, mpfr_cos, -20, 2).absolute <= std::exp2(-20.5));
  CHECK(measure(sinApprox, mpfr_sin, -126, 8).ulp <= 0.5 + 1e-5);
  CHECK(measure(cosApprox, mpfr_cos, -126, 8).ulp <= 0.5 + 1e-5);
  // Beyond what the ISA promises.
  CHECK(measure(sinApprox, mpfr_sin, 9, 127).ulp <= 0.5 + 1e-5);
  CHECK(measure(cosApprox, mpfr_cos, 9, 127).ulp <= 0.5 + 1e-5);
  // Multiples of pi/2, nearest in f32.
  Errors sine, cosine;
  for (int k = -10000; k <= 10000; ++k) {
    const auto x = static_cast<float>(k * 1.57079632679489661923);
    sine.add<F32>(mpfr_sin, bits(x), bits(sinApprox(x, false)));
    cosine.add<F32>(mpfr_cos, bits(x), bits(cosApprox(x, false)));
  }
  CHECK(sine.ulp <= 0.5 + 1e-5);
  CHECK(cosine.ulp <= 0.5 + 1e-5);
}

TEST_CASE("exec: tanh within the documented error") {
  const auto tanh = [](float x, bool) { return tanhApprox(x); };
  const Errors errors = measure(tanh, mpfr_tanh, -126, 10);
  CHECK(errors.relative <= std::exp2(-11));
  CHECK(errors.ulp <= 0.5 + 1e-5);
  CHECK(measure(tanh, mpfr_tanh, -8, 4).ulp <= 0.5 + 1e-5);
  checkTable(tanh, false,
             {{kMinusInf, 0xbf800000},
              {0x80000000, 0x80000000},
              {0, 0},
              {kPlusInf, 0x3f800000},
              {0xffc00001, kNaN},
              {0x00000001, 0x00000001},
              {0x807fffff, 0x807fffff}});
}

TEST_CASE("exec: special cases of the approximate functions") {
  checkTable(rcpApprox, false,
             {{kMinusInf, 0x80000000}, {0x80000000, kMinusInf}, {0, kPlusInf}, {kPlusInf, 0}, {0x7f800001, kNaN}});
  checkTable(rcpApprox, true,
             {{0x807fffff, kMinusInf}, {0x007fffff, kPlusInf}, {0x7f7fffff, 0}, {0xff7fffff, 0x80000000}});
  checkTable(rcpApprox, false, {{0x00000001, kPlusInf}, {0x7f000000, 0x00400000}});
  checkTable(sqrtApprox, false,
             {{kMinusInf, kNaN},
              {0xbf800000, kNaN},
              {0x80000001, kNaN},
              {0x80000000, 0x80000000},
              {0, 0},
              {kPlusInf, kPlusInf},
              {0xffc00000, kNaN}});
  checkTable(sqrtApprox, true, {{0x80000001, 0x80000000}, {0x00000001, 0}});
  checkTable(rsqrtApprox, false,
             {{kMinusInf, kNaN},
              {0xbf800000, kNaN},
              {0x80000000, kMinusInf},
              {0, kPlusInf},
              {kPlusInf, 0},
              {0xffc00000, kNaN}});
  checkTable(rsqrtApprox, true, {{0x80000001, kMinusInf}, {0x00000001, kPlusInf}});
  checkTable(sinApprox, false,
             {{kMinusInf, kNaN},
              {0x80000000, 0x80000000},
              {0, 0},
              {kPlusInf, kNaN},
              {0xffc00000, kNaN},
              {0x80000001, 0x80000001}});
  checkTable(sinApprox, true, {{0x80000001, 0x80000000}, {0x007fffff, 0}});
  for (const bool ftz : {false, true}) {
    checkTable(cosApprox, ftz,
               {{kMinusInf, kNaN},
                {0x80000000, 0x3f800000},
                {0, 0x3f800000},
                {kPlusInf, kNaN},
                {0xffc00000, kNaN},
                {0x00000001, 0x3f800000}});
    checkTable(ex2Approx, ftz,
               {{kMinusInf, 0},
                {0x80000000, 0x3f800000},
                {0, 0x3f800000},
                {kPlusInf, kPlusInf},
                {0xffc00000, kNaN},
                {0x80000001, 0x3f800000},
                {0x00000001, 0x3f800000},
                {0x7f7fffff, kPlusInf},
                {0xff7fffff, 0},
                {0x43000000, kPlusInf},
                {0xc2fc0000, 0x00800000}});
  }
  checkTable(ex2Approx, false, {{0xc2fe0000, 0x00400000}, {0xc3150000, 1}});
  checkTable(ex2Approx, true, {{0xc2fe0000, 0}, {0xc3150000, 0}});
  checkTable(lg2Approx, false,
             {{kMinusInf, kNaN},
              {0xbf800000, kNaN},
              {0x80000001, kNaN},
              {0x80000000, kMinusInf},
              {0, kMinusInf},
              {kPlusInf, kPlusInf},
              {0xffc00000, kNaN},
              {0x00000001, 0xc3150000},
              {0x3f800000, 0}});
  checkTable(lg2Approx, true, {{0x80000001, kMinusInf}, {0x007fffff, kMinusInf}});
}

TEST_CASE("exec: div.approx and div.full") {
  std::mt19937_64 random(9);
  int wrong = 0;
  for (int i = 0; i < cases(20000); ++i) {
    const auto a = static_cast<uint32_t>(random()), b = static_cast<uint32_t>(random());
    const uint32_t quotient = reference<F32>(FloatOp::Div, decode<F32>(a), decode<F32>(b), 0, Rounding::Nearest);
    wrong += bits(divFull(f32(a), f32(b), false)) != quotient;
    const double divisor = std::fabs(decode<F32>(b));
    if (divisor <= 0x1p126) wrong += bits(divApprox(f32(a), f32(b), false)) != quotient;
  }
  CHECK(wrong == 0);
  const float large = 0x1.8p126f;
  CHECK(bits(divApprox(1e38f, large, false)) == 0);
  CHECK(bits(divApprox(-1e38f, large, false)) == 0x80000000);
  CHECK(bits(divApprox(INFINITY, -large, false)) == kNaN);
  CHECK(divApprox(1.0f, 0x1p126f, false) == 0x1p-126f);
  CHECK(bits(divApprox(-1.0f, INFINITY, false)) == 0x80000000);
  CHECK(bits(divApprox(INFINITY, INFINITY, true)) == kNaN);
  CHECK(divFull(1e38f, large, false) == 1e38f / large);
  CHECK(bits(divApprox(1.0f, f32(0x80000001), true)) == kMinusInf);
  CHECK(bits(divFull(0x1p-100f, 0x1p27f, true)) == 0);
}

TEST_CASE("exec: f64 approximations") {
  CHECK(bits(rcpApproxFtz(-INFINITY)) == 0x8000000000000000);
  CHECK(rcpApproxFtz(-0x1p-1030) == -INFINITY);
  CHECK(rcpApproxFtz(-0.0) == -INFINITY);
  CHECK(rcpApproxFtz(0x1p-1030) == INFINITY);
  CHECK(bits(rcpApproxFtz(INFINITY)) == 0);
  CHECK(bits(rcpApproxFtz(NAN)) == 0x7fffffff00000000);
  CHECK(bits(rcpApproxFtz(0x1p1023)) == 0);  // 2^-1023 is subnormal
  CHECK(bits(rsqrtApproxFtz(-INFINITY)) == 0x7fffffff00000000);
  CHECK(bits(rsqrtApproxFtz(-1.0)) == 0x7fffffff00000000);
  CHECK(rsqrtApproxFtz(-0x1p-1030) == -INFINITY);
  CHECK(rsqrtApproxFtz(-0.0) == -INFINITY);
  CHECK(rsqrtApproxFtz(0x1p-1030) == INFINITY);
  CHECK(bits(rsqrtApproxFtz(INFINITY)) == 0);
  CHECK(bits(rsqrtApproxFtz(-NAN)) == 0x7fffffff00000000);
  CHECK(rsqrtApprox(-0.0) == -INFINITY);
  CHECK(std::isnan(rsqrtApprox(-1.0)));
  CHECK(rsqrtApprox(0x1p-1074) == 0x1p537);
  std::mt19937_64 random(10);
  int wrong = 0;
  for (int i = 0; i < cases(10000); ++i) {
    const uint64_t x = (random() & 0x800fffffffffffff) | ((1 + random() % 2044) << 52);
    const double value = std::bit_cast<double>(x), upper = std::bit_cast<double>(x & 0xffffffff00000000);
    const double r = rcpApproxFtz(value), s = rsqrtApproxFtz(std::fabs(value));
    wrong += (bits(r) & 0xffffffff) != 0 || (bits(s) & 0xffffffff) != 0;
    if (r != 0) wrong += std::fabs(r * upper - 1) > 0x1.1p-21;
    wrong += std::fabs(s * s * std::fabs(upper) - 1) > 0x1.1p-20;
    const double t = rsqrtApprox(std::fabs(value));
    Mpfr exact(120, std::fabs(value));
    mpfr_rec_sqrt(exact, exact, MPFR_RNDN);
    mpfr_d_sub(exact, t, exact, MPFR_RNDN);
    wrong += std::fabs(mpfr_get_d(exact, MPFR_RNDN)) > 0x1p-52 * t;
  }
  CHECK(wrong == 0);
}

TEST_CASE("exec: ex2 and tanh of every f16 and bf16") {
  Errors exp16, expB, tanh16, tanhB;
  int special = 0;
  for (unsigned i = 0; i < 0x10000; ++i) {
    const auto x = static_cast<uint16_t>(i);
    const bool zeroExponent = (x & Bf16::kInfinity) == 0;
    if (F16::isFinite(x)) {
      exp16.add<F16>(mpfr_exp2, x, ex2ApproxF16(x));
      tanh16.add<F16>(mpfr_tanh, x, tanhApproxF16(x));
    } else if (F16::isNaN(x)) {
      special += ex2ApproxF16(x) != 0x7fff || tanhApproxF16(x) != 0x7fff;
    }
    if (Bf16::isFinite(x)) {
      const uint16_t r = ex2ApproxFtzBf16(x);
      if (zeroExponent) special += r != 0x3f80;
      special += (r & Bf16::kInfinity) == 0 && r != 0;  // flushed
      if (decode<Bf16>(x) > -126) expB.add<Bf16>(mpfr_exp2, x, r);
      tanhB.add<Bf16>(mpfr_tanh, x, tanhApproxBf16(x));
      if (zeroExponent) special += tanhApproxBf16(x) != x;
    } else if (Bf16::isNaN(x)) {
      special += ex2ApproxFtzBf16(x) != 0x7fff || tanhApproxBf16(x) != 0x7fff;
    }
  }
  CHECK(special == 0);
  CHECK(exp16.relative <= std::exp2(-9.9));
  CHECK(expB.relative <= std::exp2(-7));
  CHECK(tanh16.absolute <= std::exp2(-10.987));
  CHECK(tanhB.absolute <= std::exp2(-8));
  CHECK(exp16.notNearest == 0);
  CHECK(expB.notNearest == 0);
  CHECK(tanh16.notNearest == 0);
  CHECK(tanhB.notNearest == 0);
  CHECK(std::max(exp16.ulp, expB.ulp) <= 0.5);
  CHECK(ex2ApproxF16(0xfc00) == 0);
  CHECK(ex2ApproxF16(0x7c00) == 0x7c00);
  CHECK(ex2ApproxFtzBf16(0xff80) == 0);
  CHECK(ex2ApproxFtzBf16(0x7f80) == 0x7f80);
  CHECK(tanhApproxF16(0xfc00) == 0xbc00);
  CHECK(tanhApproxF16(0x8000) == 0x8000);
  CHECK(tanhApproxBf16(0x7f80) == 0x3f80);
}
