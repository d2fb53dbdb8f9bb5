#include "exec/matrix/product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "exec/matrix/exact_sum.h"
#include "exec/value/float_directed.h"
#include "exec/value/float_nearest.h"

namespace ptxopt::exec::matrix {

namespace {

struct Sizes {
  unsigned m, n, k;
};

uint64_t integerResult(const Arithmetic& how, int64_t sum) {
  if (how.satfinite) {
    sum = std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
  }
  return static_cast<uint32_t>(sum);
}

void multiplyBits(const Arithmetic& how, Sizes s, std::span<const uint64_t> a, std::span<const uint64_t> b,
                  std::span<const uint64_t> c, std::span<uint64_t> d) {
  for (unsigned i = 0; i < s.m * s.n; ++i) {
    const uint64_t* row = &a[i / s.n * s.k];
    const uint64_t* column = &b[i % s.n * s.k];
    auto sum = static_cast<uint32_t>(c[i]);
    for (unsigned k = 0; k < s.k; ++k) {
      const auto word =
          static_cast<uint32_t>(how.bitOperation == BitOperation::Xor ? row[k] ^ column[k] : row[k] & column[k]);
      sum += static_cast<uint32_t>(std::popcount(word));
    }
    d[i] = sum;
  }
}

void multiplyIntegers(const Arithmetic& how, Sizes s, std::span<const uint64_t> a, std::span<const uint64_t> b,
                      std::span<const uint64_t> c, std::span<uint64_t> d) {
  std::vector<int32_t> left(a.size()), right(b.size());
  std::transform(a.begin(), a.end(), left.begin(),
                 [&](uint64_t x) { return static_cast<int32_t>(toInteger(how.a, x)); });
  std::transform(b.begin(), b.end(), right.begin(),
                 [&](uint64_t x) { return static_cast<int32_t>(toInteger(how.b, x)); });
  for (unsigned i = 0; i < s.m * s.n; ++i) {
    const int32_t* row = &left[i / s.n * s.k];
    const int32_t* column = &right[i % s.n * s.k];
    // At most 64 products of 16 bits: no overflow in 32.
    int32_t products = 0;
    for (unsigned k = 0; k < s.k; ++k) products += row[k] * column[k];
    const int64_t sum = toInteger(Element::S32, c[i]) + products;
    d[i] = integerResult(how, sum);
  }
}

double fma(double a, double b, double c, Rounding rounding) {
  if (rounding == Rounding::Nearest) return fmaNearest(a, b, c);
  const double r = fmaDirected(a, b, c, rounding);
  return isNaN(r) ? nanResult(a, b, c) : r;
}

void multiplyDoubles(const Arithmetic& how, Sizes s, std::span<const uint64_t> a, std::span<const uint64_t> b,
                     std::span<const uint64_t> c, std::span<uint64_t> d) {
  for (unsigned i = 0; i < s.m * s.n; ++i) {
    auto sum = std::bit_cast<double>(c[i]);
    for (unsigned k = 0; k < s.k; ++k) {
      sum = fma(std::bit_cast<double>(a[i / s.n * s.k + k]), std::bit_cast<double>(b[i % s.n * s.k + k]), sum,
                how.rounding);
    }
    d[i] = std::bit_cast<uint64_t>(sum);
  }
}

// c + the products, exact, or rounded to odd; infinity or NaN where a term is.
double dot(double c, const double* row, const double* column, unsigned k) {
  // A sum of the special terms alone, in any order, is what the whole sum is when there are any.
  double special = 0.0;
  ExactSum sum(std::isfinite(c) ? c : 0.0);
  if (!std::isfinite(c)) special += c;
  for (unsigned i = 0; i < k; ++i) {
    const double product = row[i] * column[i];
    if (std::isfinite(product)) {
      sum.add(product);
    } else {
      special += product;
    }
  }
  return special == 0.0 ? sum.result() : special;
}

void multiplyFloats(const Arithmetic& how, Sizes s, std::span<const uint64_t> a, std::span<const uint64_t> b,
                    std::span<const uint64_t> c, std::span<uint64_t> d) {
  std::vector<double> left(a.size()), right(b.size());
  std::transform(a.begin(), a.end(), left.begin(), [&](uint64_t x) { return toDouble(how.a, x); });
  std::transform(b.begin(), b.end(), right.begin(), [&](uint64_t x) { return toDouble(how.b, x); });
  multiplyAddValues(how.c, how.d, s.m, s.n, s.k, left, right, c, d);
}

}  // namespace

void multiplyAddValues(Element cType, Element dType, unsigned m, unsigned n, unsigned k, std::span<const double> a,
                       std::span<const double> b, std::span<const uint64_t> c, std::span<uint64_t> d) {
  for (unsigned i = 0; i < m * n; ++i) {
    const double sum = dot(toDouble(cType, c[i]), &a[i / n * k], &b[i % n * k], k);
    d[i] = dType == Element::F16 ? roundToF16(sum) : roundToF32(sum);
  }
}

void multiplyAdd(const Arithmetic& how, unsigned m, unsigned n, unsigned k, std::span<const uint64_t> a,
                 std::span<const uint64_t> b, std::span<const uint64_t> c, std::span<uint64_t> d) {
  const Sizes s{m, n, k};
  if (how.a == Element::B1) {
    multiplyBits(how, s, a, b, c, d);
  } else if (how.a == Element::F64) {
    multiplyDoubles(how, s, a, b, c, d);
  } else if (isFloat(how.a)) {
    multiplyFloats(how, s, a, b, c, d);
  } else {
    multiplyIntegers(how, s, a, b, c, d);
  }
}

}  // namespace ptxopt::exec::matrix
