// Z3 on the formulas of the pass `divide`, for 32 and 64 bits: for each of many constants that no dividend gives
// another quotient or remainder, and that the estimate by a reciprocal is at most one below the quotient, for all
// divisors.
//
//   ptxopt_divide_prove [--seed N] [--constants N]
//
// Numbers are integers from 0 to 2^width - 1 with `mod` where something may wrap. By a constant all is then linear,
// which Z3 decides at once; bit vectors of these widths it does not finish.
#include <fmt/format.h>
#include <z3++.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "passes/arithmetic/divide/formulas.h"

namespace {

using namespace ptxopt::division;

__extension__ using Wide = __int128;

std::string spelled(Wide n) {
  if (n < 0) return "-" + spelled(-n);
  std::string digits;
  do digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(n % 10)));
  while ((n /= 10) != 0);
  return digits;
}

// The whole part of top / 2^bits, and the whole numbers that it lies between; it stands for what it is modulo
// 2^width. Quotients of quotients, and sums of them with whole numbers, stay one quotient: Z3 is slow with nested
// ones.
struct Number {
  z3::expr top;
  Wide least, most;
  unsigned bits = 0;
};

// Wraps only what may lie outside -2^(width-1) to 2^width - 1, so that what Z3 sees stays linear.
class Z3Algebra {
 public:
  using Value = Number;

  Z3Algebra(z3::context& c, unsigned width) : c_(c), width_(width) {}

  unsigned width() const { return width_; }
  static Wide power(unsigned n) { return Wide{1} << n; }
  Wide all() const { return power(width_); }
  z3::expr number(Wide n) { return c_.int_val(spelled(n).c_str()); }

  Value constant(uint64_t c) {
    const Wide n = c & maskOf(width_);
    return {number(n), n, n};
  }
  // The number itself.
  z3::expr whole(const Value& a) { return a.bits == 0 ? a.top : a.top / powerExpression(a.bits); }
  // Beyond what 128 bits hold too.
  z3::expr powerExpression(unsigned n) {
    return n < 100 ? number(power(n)) : number(power(64)) * number(power(n - 64));
  }
  // What was taken for granted on the way.
  std::vector<z3::expr> takeClaims() { return std::exchange(claims_, {}); }
  Value plus(const Value& a, Wide n) {
    return {a.top + number(n) * powerExpression(a.bits), a.least + n, a.most + n, a.bits};
  }
  Value asUnsigned(const Value& a) {
    if (a.least >= 0) return a;
    if (a.most < 0) return plus(a, all());
    const z3::expr e = whole(a);
    return {z3::ite(e < 0, e + number(all()), e), 0, all() - 1};
  }
  Value asSigned(const Value& a) {
    const Wide half = power(width_ - 1);
    if (a.most < half) return a;
    if (a.least >= half) return plus(a, -all());
    if (a.least < -half) {
      const z3::expr e = whole(a);
      return {z3::ite(e >= number(half), e - number(all()), e), -half, half - 1};
    }
    // It looks as if it might be above, for all that its ends say: that it is not is to be proved too.
    claims_.push_back(whole(a) < number(half));
    return {a.top, a.least, half - 1, a.bits};
  }
  Value wrapped(const Value& a) {
    if (a.least >= -power(width_ - 1) && a.most < all()) return a;
    return {z3::mod(whole(a), number(all())), 0, all() - 1};
  }
  Value add(Value a, Value b) {
    if (a.bits < b.bits) std::swap(a, b);
    const z3::expr top = a.top + whole(b) * powerExpression(a.bits);
    const Value sum{top, a.least + b.least, a.most + b.most, a.bits};
    const Wide half = power(width_ - 1);
    if (sum.least >= -half || sum.most >= half) return wrapped(sum);
    // It looks as if it might be below, for all that its ends say.
    claims_.push_back(whole(sum) >= number(-half));
    return {sum.top, -half, sum.most, sum.bits};
  }
  // x - floor(n / D) is the whole part of (x * D - n + D - 1) / D.
  Value subtract(Value a, Value b) {
    const z3::expr down = powerExpression(b.bits);
    const z3::expr top = b.bits == 0 ? whole(a) - b.top : whole(a) * down - b.top + down - 1;
    return wrapped({top, a.least - b.most, a.most - b.least, b.bits});
  }
  Value negate(Value a) { return wrapped({-whole(a), -a.most, -a.least}); }
  Value multiply(Value a, uint64_t c) {
    // The factor of the smaller size of the two that it stands for.
    const Wide f = asSigned(constant(c)).least, size = f < 0 ? -f : f;
    const Wide bound = std::max(a.most < 0 ? -a.most : a.most, a.least < 0 ? -a.least : a.least);
    const z3::expr product = whole(a) * number(f);
    if (size != 0 && bound > all() / size) return {z3::mod(product, number(all())), 0, all() - 1};
    return wrapped({product, std::min(a.least * f, a.most * f), std::max(a.least * f, a.most * f)});
  }
  Value multiplyHigh(Value a, uint64_t c) {
    const Value x = asUnsigned(a);
    return {whole(x) * number(Wide{c}), 0, x.most, width_};
  }
  Value multiplyHighSigned(Value a, uint64_t c) {
    const Value x = asSigned(a), factor = asSigned(constant(c));
    const Wide quarter = power(width_ - 2);
    return {whole(x) * number(factor.least), -quarter - 1, quarter, width_};
  }
  Value shifted(const Value& x, unsigned n) { return {x.top, x.least >> n, x.most >> n, x.bits + n}; }
  Value shiftRight(Value a, unsigned n) { return shifted(asUnsigned(a), n); }
  Value shiftRightSigned(Value a, unsigned n) { return shifted(asSigned(a), n); }
  // Masks are 2^n - 1 or the rest.
  Value bitAnd(Value a, uint64_t c) {
    const Value x = asUnsigned(a);
    if (std::has_single_bit(c + 1)) return {z3::mod(whole(x), number(Wide{c} + 1)), 0, Wide{c}};
    const Wide low = Wide{~c & maskOf(width_)} + 1;
    return {whole(x) - z3::mod(whole(x), number(low)), 0, x.most};
  }
  z3::expr differ(const Value& a, const Value& b) {
    return whole(asUnsigned(wrapped(a))) != whole(asUnsigned(wrapped(b)));
  }

 private:
  z3::context& c_;
  const unsigned width_;
  std::vector<z3::expr> claims_;
};

int checks = 0, failures = 0;

// Whether `wrong` has no solution where `given` holds.
void prove(z3::context& c, const z3::expr& given, const z3::expr& wrong, const std::string& what) {
  ++checks;
  z3::solver solver(c);
  z3::params limits(c);
  limits.set("timeout", 60000u);
  limits.set("random_seed", 1u);
  solver.set(limits);
  solver.add(given);
  solver.add(wrong);
  const z3::check_result answer = solver.check();
  if (answer == z3::unsat) return;
  ++failures;
  if (answer == z3::sat)
    fmt::print("{}: wrong for {}\n", what, solver.get_model().to_string());
  else
    fmt::print("{}: not decided: {}\n", what, solver.reason_unknown());
}

void proveAll(z3::context& c, Z3Algebra& a, const z3::expr& given, const z3::expr& wrong, const std::string& what) {
  for (const z3::expr& claim : a.takeClaims()) prove(c, given, !claim, what + ", in between");
  prove(c, given, wrong, what);
}

// A number taken apart: size = quotient * d + rest, which says to Z3 what a division is without one.
struct Parts {
  Number size, quotient, rest;
  z3::expr given;
};
Parts parts(z3::context& c, Z3Algebra& a, uint64_t d, Wide least, Wide most) {
  const z3::expr q = c.int_const("q"), r = c.int_const("r");
  const z3::expr size = q * a.number(Wide{d}) + r;
  return {{size, least, most},
          {q, 0, most / d},
          {r, 0, std::min(most, Wide{d} - 1)},
          q >= 0 && r >= 0 && r < a.number(Wide{d}) && size >= a.number(least) && size <= a.number(most)};
}

// The formula of wideMagic in two steps: ((x - t) >> 1) + t is (x + t) >> 1 for t <= x, and with that there is but
// one quotient.
void proveWide(unsigned width, uint64_t d) {
  z3::context c;
  Z3Algebra a(c, width);
  const std::string what = fmt::format("u{} / {} by {} bits", width, d, width + 1);
  const z3::expr t = c.int_const("t"), x = c.int_const("x");
  prove(c, t >= 0 && t <= x && x < a.number(a.all()), (x - t) / 2 + t != (x + t) / 2, what + ", half the sum");
  const Magic magic = wideMagic(width, d);
  const Parts n = parts(c, a, d, 0, maskOf(width));
  const Number high = a.multiplyHigh(n.size, magic.multiplier);
  prove(c, n.given, a.whole(high) > a.whole(n.size), what + ", t <= x");
  const Number sum{high.top + n.size.top * a.powerExpression(width), 0, 2 * a.all(), width};
  prove(c, n.given, a.whole(a.shifted(sum, magic.shift)) != n.quotient.top, what);
}

void proveUnsigned(unsigned width, uint64_t d, uint64_t most) {
  if (!std::has_single_bit(d) && !unsignedMagic(width, d, most)) {
    // floor(floor(x / 2^n) / d) is floor(x / (2^n * d)).
    const int zeros = std::countr_zero(d);
    return zeros != 0 ? proveUnsigned(width, d >> zeros, most >> zeros) : proveWide(width, d);
  }
  z3::context c;
  Z3Algebra a(c, width);
  const Parts x = parts(c, a, d, 0, most);
  const std::string what = fmt::format("u{} / {} up to {}", width, d, most);
  proveAll(c, a, x.given, a.differ(unsignedQuotient(a, x.size, d, most), x.quotient), what);
  const Number rest =
      std::has_single_bit(d) ? unsignedRemainderOfPower(a, x.size, d) : remainder(a, x.size, x.quotient, d);
  proveAll(c, a, x.given, a.differ(rest, x.rest), what + ", remainder");
}

void proveSigned(unsigned width, int64_t d) {
  const uint64_t size = d < 0 ? -static_cast<uint64_t>(d) : static_cast<uint64_t>(d);
  for (const bool negative : {false, true}) {
    z3::context c;
    Z3Algebra a(c, width);
    const Parts x = parts(c, a, size, negative ? 1 : 0, Z3Algebra::power(width - 1) - (negative ? 0 : 1));
    const auto flipped = [&](const Number& n, bool flip) { return flip ? a.negate(n) : n; };
    const Number value = flipped(x.size, negative), quotient = flipped(x.quotient, negative != (d < 0));
    const std::string what = fmt::format("s{} / {} of {} numbers", width, d, negative ? "negative" : "other");
    proveAll(c, a, x.given, a.differ(signedQuotient(a, value, d), quotient), what);
    const Number rest = std::has_single_bit(size) ? signedRemainderOfPower(a, value, size)
                                                  : remainder(a, value, quotient, static_cast<uint64_t>(d));
    proveAll(c, a, x.given, a.differ(rest, flipped(x.rest, negative)), what + ", remainder");
  }
}

// The steps of the proof in formulas.h, for real numbers: products of two variables are few.
void proveReciprocal(unsigned width) {
  z3::context c;
  Z3Algebra a(c, width);
  const z3::expr all = a.number(a.all());
  const z3::expr x = c.real_const("x"), d = c.real_const("d"), s = c.real_const("s"), p = c.real_const("p");
  const std::string what = fmt::format("reciprocal of {} bits", width);
  // s = m * d, so 2^width - d <= s <= 2^width; p = q * d; q is the whole part of x * m / 2^width, so
  // x * s - d * 2^width < p * 2^width <= x * s.
  const z3::expr given = x >= 0 && x <= all - 1 && d >= 1 && d <= all - 1 && s >= all - d && s <= all &&
                         p * all <= x * s && x * s < (p + d) * all;
  prove(c, given, p > x, what + ": not above");
  prove(c, given, x - p >= 2 * d, what + ": at most one below");
}

std::vector<uint64_t> constants(unsigned width, int count, unsigned seed) {
  std::mt19937_64 random(seed);
  const uint64_t most = maskOf(width);
  std::set<uint64_t> all{2,
                         3,
                         5,
                         6,
                         7,
                         9,
                         10,
                         11,
                         12,
                         13,
                         14,
                         16,
                         25,
                         28,
                         60,
                         100,
                         125,
                         127,
                         128,
                         255,
                         256,
                         641,
                         1000,
                         1024,
                         3600,
                         65535,
                         65536,
                         1000000,
                         most / 2,
                         most / 2 + 1,
                         most / 2 + 2,
                         most / 3,
                         most - 1,
                         most,
                         uint64_t{1} << (width - 2),
                         (uint64_t{1} << (width - 2)) + 1};
  for (int i = 0; i < count; ++i) all.insert(std::max<uint64_t>(2, (random() & most) >> random() % (width - 2)));
  return {all.begin(), all.end()};
}

}  // namespace

int main(int argc, char** argv) {
  unsigned seed = 1;
  int count = 20;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seed") == 0) seed = static_cast<unsigned>(std::atoi(argv[i + 1]));
    if (std::strcmp(argv[i], "--constants") == 0) count = std::atoi(argv[i + 1]);
  }
  for (const unsigned width : {32u, 64u}) {
    for (const uint64_t d : constants(width, count, seed)) {
      proveUnsigned(width, d, maskOf(width));
      proveUnsigned(width, d, maskOf(width - 1));
      proveUnsigned(width, d, 65535);
      if (d > maskOf(width - 1)) continue;
      proveSigned(width, static_cast<int64_t>(d));
      proveSigned(width, -static_cast<int64_t>(d));
    }
    proveSigned(width, static_cast<int64_t>(~maskOf(width - 1)));  // the least number
    proveReciprocal(width);
  }
  fmt::print("divide: {} formulas proved, {} failed\n", checks - failures, failures);
  return failures == 0 ? 0 : 1;
}
