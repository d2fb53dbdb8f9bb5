// Float sums use plain additions of doubles where the bits of all terms span at most 53 places, so that every partial
// sum is exact. Only other rows and columns take the exact sum.
#include "exec/matrix/product.h"

#include <algorithm>
#include <array>
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
  // 16 bits hold every element, and suit the multiply-add of packed 16-bit numbers.
  std::vector<int16_t> left(a.size()), right(b.size());
  std::transform(a.begin(), a.end(), left.begin(),
                 [&](uint64_t x) { return static_cast<int16_t>(toInteger(how.a, x)); });
  std::transform(b.begin(), b.end(), right.begin(),
                 [&](uint64_t x) { return static_cast<int16_t>(toInteger(how.b, x)); });
  for (unsigned i = 0; i < s.m; ++i) {
    const int16_t* const row = &left[std::size_t{i} * s.k];
    for (unsigned j = 0; j < s.n; ++j) {
      const int16_t* const column = &right[std::size_t{j} * s.k];
      // At most 64 products of 16 bits: no overflow in 32.
      int32_t products = 0;
      for (unsigned k = 0; k < s.k; ++k) products += row[k] * column[k];
      const std::size_t at = std::size_t{i} * s.n + j;
      d[at] = integerResult(how, toInteger(Element::S32, c[at]) + products);
    }
  }
}

double fmaRounded(double a, double b, double c, Rounding rounding) {
  if (rounding == Rounding::Nearest) return fmaNearest(a, b, c);
  const double r = fmaDirected(a, b, c, rounding);
  return isNaN(r) ? nanResult(a, b, c) : r;
}

void multiplyDoubles(const Arithmetic& how, Sizes s, std::span<const uint64_t> a, std::span<const uint64_t> b,
                     std::span<const uint64_t> c, std::span<uint64_t> d) {
  for (unsigned i = 0; i < s.m * s.n; ++i) {
    auto sum = std::bit_cast<double>(c[i]);
    for (unsigned k = 0; k < s.k; ++k) {
      sum = fmaRounded(std::bit_cast<double>(a[i / s.n * s.k + k]), std::bit_cast<double>(b[i % s.n * s.k + k]),
                       sum, how.rounding);
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

// Bounds of the bits of some finite doubles: multiples of 2^lowest, of magnitudes below 2^top. Zeros, infinities
// and NaNs do not count. Made for values that are normal in f64.
struct BitRange {
  int lowest = 1 << 16;
  int top = -(1 << 16);

  void include(double value) {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    const int field = static_cast<int>(bits >> 52 & 0x7ff);
    if (field == 0 || field == 0x7ff) return;
    const int exponent = field - 1075;  // of the last bit
    lowest = std::min(lowest, exponent + std::countr_zero(bits | uint64_t{1} << 52));
    top = std::max(top, exponent + 53);
  }
};

std::vector<BitRange> rangesOfLines(std::span<const double> lines, unsigned k) {
  std::vector<BitRange> ranges(lines.size() / k);
  const double* value = lines.data();
  for (BitRange& range : ranges) {
    BitRange r;
    for (unsigned i = 0; i < k; ++i) r.include(*value++);
    range = r;
  }
  return ranges;
}

// Whether every partial sum of c and k products is a double: all are multiples of 2^lowest, and there is room for
// them above. Infinities and NaNs among the terms do not matter, as finite terms cannot change what they give.
bool isPlainSumExact(const BitRange& row, const BitRange& column, double c, int growth) {
  BitRange all;
  all.include(c);
  all.lowest = std::min(all.lowest, row.lowest + column.lowest);
  all.top = std::max(all.top, row.top + column.top + growth);
  return all.top + 1 - all.lowest <= 53;
}

constexpr unsigned kTile = 8;  // columns; n is always a multiple

// sums[j] += the products of `row` with kTile columns, which lie side by side in `columns`, `stride` apart.
void accumulateTile(const double* row, const double* columns, unsigned k, std::size_t stride, double* sums) {
  std::array<double, kTile> sum;
  std::copy_n(sums, kTile, sum.begin());
  for (unsigned i = 0; i < k; ++i, columns += stride) {
    for (unsigned j = 0; j < kTile; ++j) sum[j] += row[i] * columns[j];
  }
  std::copy_n(sum.begin(), kTile, sums);
}

void multiplyFloats(const Arithmetic& how, Sizes s, std::span<const uint64_t> a, std::span<const uint64_t> b,
                    std::span<const uint64_t> c, std::span<uint64_t> d) {
  std::vector<double> left(a.size()), right(b.size());
  toDoubles(how.a, a, left);
  toDoubles(how.b, b, right);
  multiplyAddValues(how.c, how.d, s.m, s.n, s.k, left, right, c, d);
}

}  // namespace

// Most sums need no more than the bits of a double, and plain additions, in any order, are exact then. The others
// take dot().
void multiplyAddValues(Element cType, Element dType, unsigned m, unsigned n, unsigned k, std::span<const double> a,
                       std::span<const double> b, std::span<const uint64_t> c, std::span<uint64_t> d) {
  const std::vector<BitRange> rows = rangesOfLines(a, k), columns = rangesOfLines(b, k);
  const int growth = std::bit_width(k);
  std::vector<double> sideBySide(b.size()), first(c.size());
  for (unsigned j = 0; j < n; ++j) {
    for (unsigned i = 0; i < k; ++i) sideBySide[std::size_t{i} * n + j] = b[std::size_t{j} * k + i];
  }
  toDoubles(cType, c, first);
  std::vector<double> sums = first;
  for (unsigned i = 0; i < m; ++i) {
    for (unsigned j = 0; j < n; j += kTile)
      accumulateTile(&a[std::size_t{i} * k], &sideBySide[j], k, n, &sums[std::size_t{i} * n + j]);
  }
  for (unsigned i = 0; i < m; ++i) {
    for (unsigned j = 0; j < n; ++j) {
      const std::size_t at = std::size_t{i} * n + j;
      if (isPlainSumExact(rows[i], columns[j], first[at], growth)) continue;
      sums[at] = dot(first[at], &a[std::size_t{i} * k], &b[std::size_t{j} * k], k);
    }
  }
  for (unsigned i = 0; i < m * n; ++i) d[i] = dType == Element::F16 ? roundToF16(sums[i]) : roundToF32(sums[i]);
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
