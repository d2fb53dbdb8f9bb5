// The two halves of a range, and operations half by half: what the files of integer_range.h share.
//
// A half holds values of one sign: all of it as one interval of unsigned numbers and one of signed ones, both
// ascending. An operation gets pairs of halves and puts intervals of whole numbers in, which are folded modulo
// 2^width.
#pragma once

#include <algorithm>

#include "analysis/values/integer_range.h"
#include "support/int128.h"

namespace ptxopt {

constexpr uint64_t maskOf(unsigned width) { return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }
constexpr uint64_t topOf(unsigned width) { return uint64_t{1} << (width - 1); }
constexpr int64_t signExtended(uint64_t bits, unsigned width) {
  return static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
}

// Values of one half, as unsigned numbers and as signed ones; both ascend.
struct Piece {
  uint64_t lo = 0, hi = 0;
  int64_t smallest = 0, largest = 0;
};

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
// The range of f at the four corners.
template <typename F>
Whole corners(const Piece& x, const Piece& y, F&& f) {
  const Int128 values[] = {f(Int128{x.smallest}, Int128{y.smallest}), f(Int128{x.smallest}, Int128{y.largest}),
                           f(Int128{x.largest}, Int128{y.smallest}), f(Int128{x.largest}, Int128{y.largest})};
  return {*std::min_element(std::begin(values), std::end(values)),
          *std::max_element(std::begin(values), std::end(values))};
}
inline Int128 productOf(Int128 a, Int128 b) { return a * b; }

}  // namespace ptxopt
