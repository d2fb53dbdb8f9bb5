// Bitwise logic, shifts, counts and other widths: part of integer_range.h.
#include <bit>

#include "analysis/values/range_halves.h"

namespace ptxopt {

namespace {

// ---- the least and the most of x | y and x ^ y, for x in [a, b] and y in [c, d]: Warren, "Hacker's Delight", 4-3
// ----

uint64_t raised(uint64_t x, uint64_t bit) { return (x | bit) & ~(bit - 1); }
uint64_t lowered(uint64_t x, uint64_t bit) { return (x - bit) | (bit - 1); }

uint64_t leastOr(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t top) {
  for (uint64_t bit = top; bit != 0; bit >>= 1) {
    if ((~a & c & bit) != 0 && raised(a, bit) <= b) return raised(a, bit) | c;
    if ((a & ~c & bit) != 0 && raised(c, bit) <= d) return a | raised(c, bit);
  }
  return a | c;
}

uint64_t mostOr(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t top) {
  for (uint64_t bit = top; bit != 0; bit >>= 1) {
    if ((b & d & bit) == 0) continue;
    if (lowered(b, bit) >= a) return lowered(b, bit) | d;
    if (lowered(d, bit) >= c) return b | lowered(d, bit);
  }
  return b | d;
}

uint64_t leastXor(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t top) {
  for (uint64_t bit = top; bit != 0; bit >>= 1) {
    if ((~a & c & bit) != 0) {
      if (raised(a, bit) <= b) a = raised(a, bit);
    } else if ((a & ~c & bit) != 0) {
      if (raised(c, bit) <= d) c = raised(c, bit);
    }
  }
  return a ^ c;
}

uint64_t mostXor(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t top) {
  for (uint64_t bit = top; bit != 0; bit >>= 1) {
    if ((b & d & bit) == 0) continue;
    if (lowered(b, bit) >= a)
      b = lowered(b, bit);
    else if (lowered(d, bit) >= c)
      d = lowered(d, bit);
  }
  return b ^ d;
}

}  // namespace

// ---- bits ----

IntegerRange bitAnd(const IntegerRange& a, const IntegerRange& b) { return bitNot(bitOr(bitNot(a), bitNot(b))); }

IntegerRange bitOr(const IntegerRange& a, const IntegerRange& b) {
  return binary(a, b, [](const Piece& x, const Piece& y, RangeHalves& out) {
    const uint64_t top = topOf(out.width());
    out.put(leastOr(x.lo, x.hi, y.lo, y.hi, top), mostOr(x.lo, x.hi, y.lo, y.hi, top));
  });
}

IntegerRange bitXor(const IntegerRange& a, const IntegerRange& b) {
  return binary(a, b, [](const Piece& x, const Piece& y, RangeHalves& out) {
    const uint64_t top = topOf(out.width());
    out.put(leastXor(x.lo, x.hi, y.lo, y.hi, top), mostXor(x.lo, x.hi, y.lo, y.hi, top));
  });
}

IntegerRange bitNot(const IntegerRange& a) {
  return unary(a, a.width(),
               [](const Piece& x, RangeHalves& out) { out.foldSigned(~Int128{x.largest}, ~Int128{x.smallest}); });
}

IntegerRange shl(const IntegerRange& a, const IntegerRange& amount) {
  if (amount.width() == 0) return IntegerRange::full(a.width());
  if (amount.isEmpty()) return IntegerRange::empty(a.width());
  return unary(a, a.width(), [&](const Piece& x, RangeHalves& out) {
    for (uint64_t k = amount.least(); k <= amount.most() && k < out.width(); ++k)
      out.fold(UInt128{x.lo} << k, UInt128{x.hi} << k);
    if (amount.most() >= out.width()) out.put(0, 0);
  });
}

IntegerRange lshr(const IntegerRange& a, const IntegerRange& amount) {
  if (amount.width() == 0) return IntegerRange::full(a.width());
  if (amount.isEmpty()) return IntegerRange::empty(a.width());
  return unary(a, a.width(), [&](const Piece& x, RangeHalves& out) {
    const auto by = [&](uint64_t bits, uint64_t k) { return k >= out.width() ? 0 : bits >> k; };
    out.put(by(x.lo, amount.most()), by(x.hi, amount.least()));
  });
}

IntegerRange ashr(const IntegerRange& a, const IntegerRange& amount) {
  if (amount.width() == 0) return IntegerRange::full(a.width());
  if (amount.isEmpty()) return IntegerRange::empty(a.width());
  return unary(a, a.width(), [&](const Piece& x, RangeHalves& out) {
    const uint64_t least = std::min<uint64_t>(amount.least(), out.width() - 1);
    const uint64_t most = std::min<uint64_t>(amount.most(), out.width() - 1);
    if (x.smallest >= 0)
      out.put(x.lo >> most, x.hi >> least);
    else
      out.foldSigned(x.smallest >> least, x.largest >> most);
  });
}

IntegerRange popc(const IntegerRange& a, unsigned width) {
  return unary(a, width, [](const Piece& x, RangeHalves& out) {
    if (x.lo == x.hi) {
      const auto ones = static_cast<uint64_t>(std::popcount(x.lo));
      return out.put(ones, ones);
    }
    // Both begin alike; at bit `k` the first has 0 and the last 1, and below it everything up from one and down
    // from the other is there.
    const auto k = static_cast<unsigned>(std::bit_width(x.lo ^ x.hi)) - 1;
    const uint64_t below = (uint64_t{1} << k) - 1;
    const auto alike = k == 63 ? 0 : static_cast<uint64_t>(std::popcount(x.lo >> (k + 1)));
    out.put(alike + ((x.lo & below) == 0 ? 0 : 1), alike + k + ((x.hi & below) == below ? 1 : 0));
  });
}

IntegerRange clz(const IntegerRange& a, unsigned width) {
  return unary(a, width, [&](const Piece& x, RangeHalves& out) {
    const auto zeros = [&](uint64_t bits) { return a.width() - static_cast<unsigned>(std::bit_width(bits)); };
    out.put(zeros(x.hi), zeros(x.lo));
  });
}

// ---- widths ----

IntegerRange sext(const IntegerRange& a, unsigned width) {
  return unary(a, width, [](const Piece& x, RangeHalves& out) { out.foldSigned(x.smallest, x.largest); });
}

IntegerRange zext(const IntegerRange& a, unsigned width) {
  return unary(a, width, [](const Piece& x, RangeHalves& out) { out.fold(x.lo, x.hi); });
}

IntegerRange trunc(const IntegerRange& a, unsigned width) { return zext(a, width); }

}  // namespace ptxopt
