// Sums, products, quotients, extremes, and whether they fit: part of integer_range.h.
#include "analysis/values/range_halves.h"

namespace ptxopt {

namespace {

// The remainder's magnitude for magnitudes [lo, hi] of the dividend and [least, most] of the divisor, least > 0.
Whole remainderOf(Int128 lo, Int128 hi, Int128 least, Int128 most) {
  if (hi < least) return {lo, hi};
  if (least == most && lo / least == hi / least) return {lo % least, hi % least};
  return {0, std::min(hi, most - 1)};
}

}  // namespace

// ---- arithmetic ----

IntegerRange add(const IntegerRange& a, const IntegerRange& b) {
  return binary(a, b, [](const Piece& x, const Piece& y, RangeHalves& out) {
    out.fold(UInt128{x.lo} + y.lo, UInt128{x.hi} + y.hi);
  });
}

IntegerRange sub(const IntegerRange& a, const IntegerRange& b) {
  return binary(a, b, [](const Piece& x, const Piece& y, RangeHalves& out) {
    out.fold(UInt128{x.lo} - y.hi, UInt128{x.hi} - y.lo);
  });
}

// The products of the signed and of the unsigned numbers are the same modulo 2^width: both intervals hold.
IntegerRange mul(const IntegerRange& a, const IntegerRange& b) {
  return binary(a, b, [](const Piece& x, const Piece& y, RangeHalves& out) {
    const Whole whole = corners(x, y, productOf);
    RangeHalves one(out.width()), other(out.width());
    one.foldSigned(whole.lo, whole.hi);
    other.fold(UInt128{x.lo} * y.lo, UInt128{x.hi} * y.hi);
    one.meet(other);
    out.join(one);
  });
}

IntegerRange neg(const IntegerRange& a) { return sub(IntegerRange::constant(a.width(), 0), a); }

IntegerRange abs(const IntegerRange& a) {
  return unary(a, a.width(), [](const Piece& x, RangeHalves& out) {
    if (x.smallest >= 0)
      out.put(x.lo, x.hi);
    else
      out.foldSigned(-Int128{x.largest}, -Int128{x.smallest});
  });
}

IntegerRange mulHighUnsigned(const IntegerRange& a, const IntegerRange& b) {
  return binary(a, b, [](const Piece& x, const Piece& y, RangeHalves& out) {
    out.fold(UInt128{x.lo} * y.lo >> out.width(), UInt128{x.hi} * y.hi >> out.width());
  });
}

IntegerRange mulHighSigned(const IntegerRange& a, const IntegerRange& b) {
  return binary(a, b, [](const Piece& x, const Piece& y, RangeHalves& out) {
    const Whole whole = corners(x, y, productOf);
    out.foldSigned(whole.lo >> out.width(), whole.hi >> out.width());
  });
}

IntegerRange udiv(const IntegerRange& a, const IntegerRange& b) {
  if (b.contains(uint64_t{0})) return IntegerRange::full(a.width());
  return binary(a, b, [](const Piece& x, const Piece& y, RangeHalves& out) { out.put(x.lo / y.hi, x.hi / y.lo); });
}

IntegerRange urem(const IntegerRange& a, const IntegerRange& b) {
  if (b.contains(uint64_t{0})) return IntegerRange::full(a.width());
  return binary(a, b, [](const Piece& x, const Piece& y, RangeHalves& out) {
    const Whole whole = remainderOf(x.lo, x.hi, y.lo, y.hi);
    out.foldSigned(whole.lo, whole.hi);
  });
}

IntegerRange sdiv(const IntegerRange& a, const IntegerRange& b) {
  if (b.contains(uint64_t{0})) return IntegerRange::full(a.width());
  return binary(a, b, [](const Piece& x, const Piece& y, RangeHalves& out) {
    const Whole whole = corners(x, y, [](Int128 n, Int128 d) { return n / d; });
    out.foldSigned(whole.lo, whole.hi);
  });
}

IntegerRange srem(const IntegerRange& a, const IntegerRange& b) {
  if (b.contains(uint64_t{0})) return IntegerRange::full(a.width());
  return binary(a, b, [](const Piece& x, const Piece& y, RangeHalves& out) {
    const bool isNegative = y.smallest < 0;
    const Int128 least = isNegative ? -Int128{y.largest} : Int128{y.smallest};
    const Int128 most = isNegative ? -Int128{y.smallest} : Int128{y.largest};
    if (x.smallest >= 0) {
      const Whole whole = remainderOf(x.smallest, x.largest, least, most);
      out.foldSigned(whole.lo, whole.hi);
    } else {
      const Whole whole = remainderOf(-Int128{x.largest}, -Int128{x.smallest}, least, most);
      out.foldSigned(-whole.hi, -whole.lo);
    }
  });
}

IntegerRange umin(const IntegerRange& a, const IntegerRange& b) {
  return binary(a, b, [](const Piece& x, const Piece& y, RangeHalves& out) {
    out.put(std::min(x.lo, y.lo), std::min(x.hi, y.hi));
  });
}

IntegerRange umax(const IntegerRange& a, const IntegerRange& b) {
  return binary(a, b, [](const Piece& x, const Piece& y, RangeHalves& out) {
    out.put(std::max(x.lo, y.lo), std::max(x.hi, y.hi));
  });
}

IntegerRange smin(const IntegerRange& a, const IntegerRange& b) {
  return binary(a, b, [](const Piece& x, const Piece& y, RangeHalves& out) {
    out.foldSigned(std::min(x.smallest, y.smallest), std::min(x.largest, y.largest));
  });
}

IntegerRange smax(const IntegerRange& a, const IntegerRange& b) {
  return binary(a, b, [](const Piece& x, const Piece& y, RangeHalves& out) {
    out.foldSigned(std::max(x.smallest, y.smallest), std::max(x.largest, y.largest));
  });
}

// ---- whether the whole number fits ----

namespace {

bool areComparable(const IntegerRange& a, const IntegerRange& b) {
  return a.width() != 0 && a.width() == b.width() && !a.isEmpty() && !b.isEmpty();
}
bool fitsSigned(Int128 lo, Int128 hi, unsigned width) {
  const Int128 top = Int128{1} << (width - 1);
  return -top <= lo && hi < top;
}

}  // namespace

bool mulNeverWrapsUnsigned(const IntegerRange& a, const IntegerRange& b) {
  return areComparable(a, b) && UInt128{a.most()} * b.most() <= maskOf(a.width());
}
bool mulNeverWrapsSigned(const IntegerRange& a, const IntegerRange& b) {
  if (!areComparable(a, b)) return false;
  const Whole whole = corners({0, 0, a.smallest(), a.largest()}, {0, 0, b.smallest(), b.largest()}, productOf);
  return fitsSigned(whole.lo, whole.hi, a.width());
}

}  // namespace ptxopt
