// Float mma: the values of narrow floats, exact sums, and that every result is the nearest to the exact sum.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "exec/matrix/exact_sum.h"
#include "exec/matrix/mma.h"
#include "exec_matrix_reference.h"

using namespace ptxopt::exec::matrix;
using namespace ptxopt::testing;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A fixed-point number in digits of 32 bits that may be negative or too large until its sign is asked for.
class Big {
 public:
  void add(double x, int factor = 1) {
    int exponent;
    const auto significand = static_cast<int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
    if (significand == 0) return;
    // In pieces of 16 bits, each of which fits one digit wherever it falls.
    for (int piece = 0; piece < 4; ++piece) {
      const int shift = exponent - 53 + 704 + 16 * piece;
      const int64_t part = (std::abs(significand) >> (16 * piece) & 0xffff) * (significand < 0 ? -factor : factor);
      digits_.at(static_cast<std::size_t>(shift / 32)) += part * (int64_t{1} << (shift % 32));
    }
  }
  int sign() const {
    std::vector<int64_t> d = digits_;
    for (std::size_t i = 0; i + 1 < d.size(); ++i) {
      const int64_t carry = d[i] >> 32;
      d[i] -= carry * (int64_t{1} << 32);
      d[i + 1] += carry;
    }
    if (d.back() < 0) return -1;
    return std::any_of(d.begin(), d.end(), [](int64_t x) { return x != 0; }) ? 1 : 0;
  }

 private:
  std::vector<int64_t> digits_ = std::vector<int64_t>(64, 0);
};

// f16 or f32 by its bits.
double decode(uint32_t raw, bool is16) {
  if (!is16) return static_cast<double>(std::bit_cast<float>(raw));
  const int exponent = static_cast<int>(raw >> 10 & 31);
  const auto mantissa = static_cast<double>(raw & 1023);
  double value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  if (exponent == 31) value = mantissa == 0 ? kInfinity : std::numeric_limits<double>::quiet_NaN();
  return (raw & 0x8000) != 0 ? -value : value;
}

// Whether `raw` is the exact sum of `terms` rounded to nearest, ties to even.
bool isNearest(const std::vector<double>& terms, uint32_t raw, bool is16) {
  const uint32_t sign = is16 ? 0x8000 : 0x80000000, infinity = is16 ? 0x7c00 : 0x7f800000;
  const uint32_t magnitude = raw & ~sign;
  const int direction = (raw & sign) != 0 ? -1 : 1;  // everything below is in terms of the magnitude
  if (magnitude > infinity) return false;
  const double step = is16 ? 65536.0 : 0x1p128;  // what would follow the largest number
  const double here = magnitude == infinity ? step : decode(magnitude, is16);
  const double above = magnitude + 1 == infinity ? step : decode(magnitude + 1, is16);
  const double below = magnitude == 0 ? -decode(1, is16) : decode(magnitude - 1, is16);
  Big toAbove, toBelow;  // twice the sum, less the two that it lies between
  for (const double term : terms) {
    toAbove.add(term, 2 * direction);
    toBelow.add(term, 2 * direction);
  }
  toAbove.add(here, -1), toBelow.add(here, -1);
  toBelow.add(below, -1);
  const bool isEven = magnitude % 2 == 0;
  const int low = toBelow.sign();
  if (low < 0 || (low == 0 && !isEven)) return false;
  if (magnitude == infinity) return true;
  toAbove.add(above, -1);
  const int high = toAbove.sign();
  return high < 0 || (high == 0 && isEven);
}

struct FloatForm {
  unsigned m, k;
  const char* a;
  const char* b;
  const char* result;
  const char* kind;
};

constexpr FloatForm kFloatForms[] = {
    {16, 8, "f16", "f16", "f16", ""},
    {16, 8, "f16", "f16", "f32", ""},
    {16, 16, "f16", "f16", "f16", ""},
    {16, 16, "f16", "f16", "f32", ""},
    {16, 8, "bf16", "bf16", "f32", ""},
    {16, 16, "bf16", "bf16", "f32", ""},
    {16, 4, "tf32", "tf32", "f32", ""},
    {16, 8, "tf32", "tf32", "f32", ""},
    {16, 16, "e4m3", "e4m3", "f32", ""},
    {16, 16, "e4m3", "e5m2", "f16", ""},
    {16, 32, "e5m2", "e4m3", "f32", ""},
    {16, 32, "e5m2", "e5m2", "f16", ""},
    {16, 32, "e2m1", "e2m3", "f32", "kind::f8f6f4."},
    {16, 32, "e3m2", "e4m3", "f16", "kind::f8f6f4."},
    {16, 32, "e5m2", "e2m1", "f32", "kind::f8f6f4."},
    {16, 32, "e2m3", "e3m2", "f32", "kind::f8f6f4."},
};

struct Format {
  const char* name;
  unsigned exponentBits, mantissaBits;
  Packing packing;
};

constexpr Format kFormats[] = {
    {"f16", 5, 10, {16, 16}}, {"bf16", 8, 7, {16, 16}}, {"tf32", 8, 10, {32, 32}}, {"e4m3", 4, 3, {8, 8}},
    {"e5m2", 5, 2, {8, 8}},   {"e2m3", 2, 3, {6, 8}},   {"e3m2", 3, 2, {6, 8}},    {"e2m1", 2, 1, {4, 8, 32, 2}},
};

const Format& format(std::string_view name) {
  return *std::find_if(std::begin(kFormats), std::end(kFormats), [&](const Format& f) { return f.name == name; });
}

// A finite number: raw bits (for tf32 with noise in the 13 that do not count) and its value, by its definition.
std::pair<uint64_t, double> randomElement(const Format& f, std::mt19937_64& random, unsigned spread) {
  const int bias = (1 << (f.exponentBits - 1)) - 1;
  const unsigned top = 1u << f.exponentBits;
  // All exponents but the highest, which may be special; around the middle when `spread` is small.
  const unsigned first = top - 1 > spread ? (top - 1 - spread) / 2 : 0;
  const auto exponent = static_cast<unsigned>(first + random() % std::min(spread, top - 1));
  const auto mantissa = static_cast<unsigned>(random() & ((1u << f.mantissaBits) - 1));
  const bool negative = (random() & 1) != 0;
  uint64_t raw = ((uint64_t{negative} << f.exponentBits | exponent) << f.mantissaBits) | mantissa;
  const double fraction = static_cast<double>(mantissa) / (1u << f.mantissaBits);
  double value =
      exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, static_cast<int>(exponent) - bias);
  if (f.packing.bits == 32) raw = raw << 13 | (random() & 0x1fff);
  return {raw, negative ? -value : value};
}

ReferenceForm formOf(const FloatForm& f) {
  const std::string text = "sync.aligned.m" + std::to_string(f.m) + "n8k" + std::to_string(f.k) + ".row.col." +
                           f.kind + f.result + "." + f.a + "." + f.b + "." + f.result;
  return referenceForm(text, f.m, f.k, format(f.a).packing, format(f.b).packing,
                       f.result == std::string("f16") ? 16 : 32);
}

std::vector<uint64_t> run(const ReferenceForm& form, const std::vector<uint64_t>& a, const std::vector<uint64_t>& b,
                          const std::vector<uint64_t>& c) {
  const auto shape = mmaShape(split(form.text));
  REQUIRE(shape);
  std::vector<Lanes> d(form.d.registers());
  multiply(*shape, toRegisters(form.a, a, 0xa5a5a5a5), toRegisters(form.b, b, 0xffffffff),
           toRegisters(form.d, c, 0), d);
  return toMatrix(form.d, d);
}

}  // namespace

TEST_CASE("exec matrix: values of narrow floats") {
  CHECK(toDouble(Element::F16, 0x3c00) == 1.0);
  CHECK(toDouble(Element::F16, 0x0001) == 0x1p-24);
  CHECK(toDouble(Element::F16, 0xfc00) == -kInfinity);
  CHECK(toDouble(Element::Bf16, 0x3f80) == 1.0);
  CHECK(toDouble(Element::Bf16, 0x0001) == 0x1p-133);
  CHECK(toDouble(Element::Tf32, 0x3f801fff) == 1.0);
  CHECK(toDouble(Element::Tf32, 0x3f802000) == 1.0 + 0x1p-10);
  CHECK(toDouble(Element::E4m3, 0x7e) == 448.0);
  CHECK(toDouble(Element::E4m3, 0x01) == 0x1p-9);
  CHECK(std::isnan(toDouble(Element::E4m3, 0xff)));
  CHECK(toDouble(Element::E5m2, 0x7b) == 57344.0);
  CHECK(toDouble(Element::E5m2, 0xfc) == -kInfinity);
  CHECK(std::isnan(toDouble(Element::E5m2, 0x7d)));
  CHECK(toDouble(Element::E2m3, 0x1f) == 7.5);
  CHECK(toDouble(Element::E2m3, 0x21) == -0.125);
  CHECK(toDouble(Element::E3m2, 0x1f) == 28.0);
  CHECK(toDouble(Element::E3m2, 0x01) == 0.0625);
  CHECK(toDouble(Element::E2m1, 0x7) == 6.0);
  CHECK(toDouble(Element::E2m1, 0x9) == -0.5);
  CHECK(toInteger(Element::S4, 0x8) == -8);
  CHECK(toInteger(Element::U4, 0x8) == 8);
  CHECK(toInteger(Element::S8, 0xff) == -1);
  CHECK(toInteger(Element::U8, 0x1ff) == 255);
}

TEST_CASE("exec matrix: sums without rounding") {
  ExactSum far(0x1p200);
  far.add(0x1p-200);
  far.add(-0x1p200);
  CHECK(far.result() == 0x1p-200);
  ExactSum none(1.0);
  none.add(0x1p-100);
  none.add(-1.0);
  none.add(-0x1p-100);
  CHECK(none.result() == 0.0);
  CHECK_FALSE(std::signbit(none.result()));
  ExactSum negative(-0.0);
  negative.add(-0.0);
  CHECK(std::signbit(negative.result()));
  // A tie of f32 that a term far below decides: 1 + 2^-24, and a little less and more. First in two doubles, then
  // with terms that come and go and are too far apart for two.
  for (const double little : {0.0, 0x1p-53, -0x1p-53, 0x1p-54, 0x1p-90, 0x1p-125, 0x1p-250, -0x1p-250}) {
    for (const bool isWide : {false, true}) {
      for (const double side : {1.0, -1.0}) {
        ExactSum sum(side * (1.0 + 0x1p-24));
        if (isWide) {
          for (const double term : {0x1p-100, 0x1p-300, 0x1p100, -0x1p-100, -0x1p-300, -0x1p100}) sum.add(term);
        }
        sum.add(side * little);
        CHECK(roundToF32(side * sum.result()) == (little > 0 ? 0x3f800001 : 0x3f800000));
      }
    }
  }
}

TEST_CASE("exec matrix: float mma gives the nearest to the exact sum") {
  std::mt19937_64 random(5);
  for (const FloatForm& f : kFloatForms) {
    const ReferenceForm form = formOf(f);
    CAPTURE(form.text);
    const bool is16 = form.d.packing.bits == 16;
    // Near exponents, far ones, and all there are, with cancellation in every other element.
    for (const unsigned spread : {3u, 12u, 60u, 256u}) {
      if (spread == 60 && format(f.a).exponentBits < 8) continue;
      std::vector<uint64_t> a, b, c(form.d.size());
      std::vector<double> av, bv, cv;
      const auto fill = [&](const ReferenceMatrix& matrix, const Format& type, std::vector<uint64_t>& raw,
                            std::vector<double>& values) {
        for (std::size_t i = 0; i < matrix.size(); ++i) {
          const auto [r, v] = randomElement(type, random, spread);
          raw.push_back(r), values.push_back(v);
        }
      };
      fill(form.a, format(f.a), a, av);
      fill(form.b, format(f.b), b, bv);
      for (std::size_t i = 0; i < c.size(); ++i) {
        const double product = av[i / 8 * f.k] * bv[i % 8];
        if (is16) {
          c[i] = randomElement(format("f16"), random, spread).first;
        } else {
          const double value = i % 2 == 0 ? -product : product * 0x1.234567p-30;
          c[i] =
              std::bit_cast<uint32_t>(std::isfinite(static_cast<float>(value)) ? static_cast<float>(value) : 1.0f);
        }
        cv.push_back(decode(static_cast<uint32_t>(c[i]), is16));
      }
      const auto d = run(form, a, b, c);
      unsigned wrong = 0;
      for (unsigned i = 0; i < d.size(); ++i) {
        std::vector<double> terms{cv[i]};
        for (unsigned j = 0; j < f.k; ++j) terms.push_back(av[i / 8 * f.k + j] * bv[j * 8 + i % 8]);
        wrong += !isNearest(terms, static_cast<uint32_t>(d[i]), is16);
      }
      CAPTURE(spread);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("exec matrix: identity, order of k, special values") {
  std::mt19937_64 random(6);
  const ReferenceForm form = formOf({16, 16, "f16", "f16", "f32", ""});
  const auto one = uint64_t{0x3c00};
  std::vector<uint64_t> identity(256), b(128), c(128), a(256);
  for (unsigned i = 0; i < 16; ++i) identity[i * 16 + i] = one;
  for (uint64_t& raw : b) raw = randomElement(format("f16"), random, 12).first;
  for (uint64_t& raw : a) raw = randomElement(format("f16"), random, 31).first;
  const auto product = run(form, identity, b, c);
  bool isB = true;
  for (unsigned i = 0; i < 128; ++i)
    isB &= decode(static_cast<uint32_t>(product[i]), false) == decode(static_cast<uint32_t>(b[i]), true);
  CHECK(isB);

  // C alone comes through a zero A.
  for (uint64_t& raw : c) raw = random() & 0x7f7fffff;
  CHECK(run(form, std::vector<uint64_t>(256), b, c) == c);

  // Columns of A and rows of B in another order.
  const auto inOrder = run(form, a, b, c);
  std::vector<uint64_t> a2(256), b2(128);
  for (unsigned k = 0; k < 16; ++k) {
    const unsigned from = (k * 7 + 3) % 16;
    for (unsigned row = 0; row < 16; ++row) a2[row * 16 + k] = a[row * 16 + from];
    for (unsigned column = 0; column < 8; ++column) b2[k * 8 + column] = b[from * 8 + column];
  }
  CHECK(run(form, a2, b2, c) == inOrder);

  // Row 0: infinity; row 1: infinity - infinity; row 2: infinity * 0; row 3: a NaN operand; row 4: C is infinite.
  std::vector<uint64_t> ones(128, one), zeroC(128);
  std::vector<uint64_t> special(256);
  special[0] = 0x7c00;
  special[16] = 0x7c00, special[17] = 0xfc00;
  special[32] = 0x7c00;
  special[48] = 0x7e01;
  ones[1] = 0;  // B[0][1]
  zeroC[4 * 8] = 0xff800000;
  zeroC[5 * 8] = 0x80000000;
  const auto d = run(form, special, ones, zeroC);
  CHECK(d[0] == 0x7f800000);
  CHECK(d[8] == 0x7fffffff);
  CHECK(d[2 * 8] == 0x7f800000);
  CHECK(d[2 * 8 + 1] == 0x7fffffff);
  CHECK(d[3 * 8] == 0x7fffffff);
  CHECK(d[4 * 8] == 0xff800000);
  CHECK(d[5 * 8] == 0);  // -0 + 0
  const ReferenceForm narrow = formOf({16, 16, "f16", "f16", "f16", ""});
  std::vector<uint64_t> large(256, 0x7bff);
  const auto n = run(narrow, large, std::vector<uint64_t>(128, one), std::vector<uint64_t>(128, 0x7e00));
  CHECK(n[0] == 0x7fff);
  CHECK(run(narrow, large, std::vector<uint64_t>(128, one), std::vector<uint64_t>(128))[0] == 0x7c00);
}
