#include "analysis/integer_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace ptxopt {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

namespace {

constexpr uint64_t maskOf(unsigned width) { return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }
constexpr int64_t signExtended(uint64_t bits, unsigned width) {
  return static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
}

// Values of one half, as unsigned numbers and as signed ones; both ascend.
struct Piece {
  uint64_t lo = 0, hi = 0;
  int64_t smallest = 0, largest = 0;
};

}  // namespace

// A range as its two halves. What is put in is joined, half by half.
class RangeHalves {
 public:
  explicit RangeHalves(unsigned width) : width_(width), mask_(maskOf(width)), top_(mask_ ^ (mask_ >> 1)) {}
  explicit RangeHalves(const IntegerRange& r) : RangeHalves(r.width_) {
    if (r.isEmpty()) return;
    if (r.least_ < top_) low_ = {true, r.least_, static_cast<uint64_t>(r.largest_)};
    if (r.most_ >= top_) high_ = {true, static_cast<uint64_t>(r.smallest_) & mask_, r.most_};
  }

  unsigned width() const { return width_; }

  // lo <= hi, of `width` bits.
  void put(uint64_t lo, uint64_t hi) {
    if (lo < top_) low_.join(lo, std::min(hi, top_ - 1));
    if (hi >= top_) high_.join(std::max(lo, top_), hi);
  }
  // All whole numbers from lo up to hi, modulo 2^width. Fewer than 2^128; the ends are taken modulo 2^128.
  void fold(UInt128 lo, UInt128 hi) {
    if (hi - lo >= mask_) return put(0, mask_);
    const uint64_t from = static_cast<uint64_t>(lo) & mask_, to = static_cast<uint64_t>(hi) & mask_;
    if (from <= to) return put(from, to);
    put(from, mask_);
    put(0, to);
  }
  void foldSigned(Int128 lo, Int128 hi) { fold(static_cast<UInt128>(lo), static_cast<UInt128>(hi)); }
  void join(const RangeHalves& other) {
    if (other.low_.any) low_.join(other.low_.lo, other.low_.hi);
    if (other.high_.any) high_.join(other.high_.lo, other.high_.hi);
  }
  void meet(const RangeHalves& other) {
    low_.meet(other.low_);
    high_.meet(other.high_);
  }

  template <typename F>
  void forEach(F&& f) const {
    for (const Half& h : {low_, high_})
      if (h.any) f(Piece{h.lo, h.hi, signExtended(h.lo, width_), signExtended(h.hi, width_)});
  }

  IntegerRange range() const {
    if (!low_.any && !high_.any) return IntegerRange::empty(width_);
    const Half& first = low_.any ? low_ : high_;
    const Half& last = high_.any ? high_ : low_;
    IntegerRange r;
    r.width_ = width_;
    r.least_ = first.lo;
    r.most_ = last.hi;
    r.smallest_ = signExtended(last.lo, width_);
    r.largest_ = signExtended(first.hi, width_);
    return r;
  }

  static IntegerRange empty(unsigned width) {
    IntegerRange r;
    r.width_ = width;
    r.least_ = 1;
    r.most_ = 0;
    return r;
  }

 private:
  struct Half {
    bool any = false;
    uint64_t lo = 0, hi = 0;

    void join(uint64_t l, uint64_t h) {
      lo = any ? std::min(lo, l) : l;
      hi = any ? std::max(hi, h) : h;
      any = true;
    }
    void meet(const Half& other) {
      lo = std::max(lo, other.lo);
      hi = std::min(hi, other.hi);
      any = any && other.any && lo <= hi;
    }
  };

  unsigned width_;
  uint64_t mask_, top_;
  Half low_, high_;
};

namespace {

// f(piece, out) for each half.
template <typename F>
IntegerRange unary(const IntegerRange& a, unsigned width, F&& f) {
  if (a.width() == 0 || width == 0) return IntegerRange::full(width);
  RangeHalves out(width);
  RangeHalves(a).forEach([&](const Piece& x) { f(x, out); });
  return out.range();
}

// f(piece of a, piece of b, out) for each pair of halves.
template <typename F>
IntegerRange binary(const IntegerRange& a, const IntegerRange& b, F&& f) {
  if (a.width() == 0 || a.width() != b.width()) return IntegerRange::full(a.width());
  RangeHalves out(a.width());
  const RangeHalves other(b);
  RangeHalves(a).forEach([&](const Piece& x) { other.forEach([&](const Piece& y) { f(x, y, out); }); });
  return out.range();
}

struct Whole {
  Int128 lo, hi;
};
// Of f at the four corners.
template <typename F>
Whole corners(const Piece& x, const Piece& y, F&& f) {
  const Int128 values[] = {f(Int128{x.smallest}, Int128{y.smallest}), f(Int128{x.smallest}, Int128{y.largest}),
                           f(Int128{x.largest}, Int128{y.smallest}), f(Int128{x.largest}, Int128{y.largest})};
  return {*std::min_element(std::begin(values), std::end(values)),
          *std::max_element(std::begin(values), std::end(values))};
}
Int128 product(Int128 a, Int128 b) { return a * b; }

// The remainder's magnitude for magnitudes [lo, hi] of the dividend and [least, most] of the divisor, least > 0.
Whole remainderOf(Int128 lo, Int128 hi, Int128 least, Int128 most) {
  if (hi < least) return {lo, hi};
  if (least == most && lo / least == hi / least) return {lo % least, hi % least};
  return {0, std::min(hi, most - 1)};
}

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

uint64_t topOf(unsigned width) { return uint64_t{1} << (width - 1); }

}  // namespace

// ---- making and asking ----

IntegerRange IntegerRange::full(unsigned width) {
  return width == 0 ? IntegerRange() : ofUnsigned(width, 0, maskOf(width));
}

IntegerRange IntegerRange::empty(unsigned width) { return RangeHalves::empty(width); }

IntegerRange IntegerRange::constant(unsigned width, uint64_t bits) {
  if (width == 0) return {};
  return ofUnsigned(width, bits & maskOf(width), bits & maskOf(width));
}

IntegerRange IntegerRange::ofUnsigned(unsigned width, uint64_t least, uint64_t most) {
  RangeHalves halves(width);
  halves.put(least, most);
  return halves.range();
}

IntegerRange IntegerRange::ofSigned(unsigned width, int64_t smallest, int64_t largest) {
  RangeHalves halves(width);
  halves.foldSigned(smallest, largest);
  return halves.range();
}

bool IntegerRange::isFull() const { return width_ == 0 || *this == full(width_); }

bool IntegerRange::contains(uint64_t bits) const {
  if (width_ == 0) return true;
  const int64_t number = signExtended(bits, width_);
  return least_ <= bits && bits <= most_ && smallest_ <= number && number <= largest_;
}

bool IntegerRange::contains(const IntegerRange& other) const { return join(other) == *this; }

IntegerRange IntegerRange::join(const IntegerRange& other) const {
  if (width_ == 0 || width_ != other.width_) return full(width_);
  RangeHalves halves(*this);
  halves.join(RangeHalves(other));
  return halves.range();
}

IntegerRange IntegerRange::meet(const IntegerRange& other) const {
  if (width_ == 0 || width_ != other.width_) return *this;
  RangeHalves halves(*this);
  halves.meet(RangeHalves(other));
  return halves.range();
}

std::string IntegerRange::toString() const {
  if (isFull()) return fmt::format("{}: full", width_);
  if (isEmpty()) return fmt::format("{}: empty", width_);
  const bool hasUnsigned = least_ != 0 || most_ != maskOf(width_);
  const bool isHigh = least_ >= topOf(width_);
  std::string out = fmt::format("{}:", width_);
  if (hasUnsigned && !isHigh) out += fmt::format(" [{}, {}]", least_, most_);
  if (most_ >= topOf(width_) && (isHigh || smallest_ != signExtended(topOf(width_), width_) ||
                                 static_cast<uint64_t>(largest_) != maskOf(width_) >> 1))
    out += fmt::format(" signed [{}, {}]", smallest_, largest_);
  return out;
}

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
    const Whole whole = corners(x, y, product);
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
    const Whole whole = corners(x, y, product);
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

bool addNeverWrapsUnsigned(const IntegerRange& a, const IntegerRange& b) {
  return areComparable(a, b) && UInt128{a.most()} + b.most() <= maskOf(a.width());
}
bool addNeverWrapsSigned(const IntegerRange& a, const IntegerRange& b) {
  return areComparable(a, b) &&
         fitsSigned(Int128{a.smallest()} + b.smallest(), Int128{a.largest()} + b.largest(), a.width());
}
bool subNeverWrapsUnsigned(const IntegerRange& a, const IntegerRange& b) {
  return areComparable(a, b) && a.least() >= b.most();
}
bool subNeverWrapsSigned(const IntegerRange& a, const IntegerRange& b) {
  return areComparable(a, b) &&
         fitsSigned(Int128{a.smallest()} - b.largest(), Int128{a.largest()} - b.smallest(), a.width());
}
bool mulNeverWrapsUnsigned(const IntegerRange& a, const IntegerRange& b) {
  return areComparable(a, b) && UInt128{a.most()} * b.most() <= maskOf(a.width());
}
bool mulNeverWrapsSigned(const IntegerRange& a, const IntegerRange& b) {
  if (!areComparable(a, b)) return false;
  const Whole whole = corners({0, 0, a.smallest(), a.largest()}, {0, 0, b.smallest(), b.largest()}, product);
  return fitsSigned(whole.lo, whole.hi, a.width());
}

}  // namespace ptxopt
