// What an integer of 1 to 64 bits may be: an interval of its unsigned value and one of its signed value, each made
// as narrow as the other allows.
//
// Together they mean: the integer lies in an interval of the lower half of all values (sign bit 0) or in one of the
// upper half. Either may be missing, and all four ends are values that it may have. Arithmetic goes half by half: for
// a pair of halves the result is an interval of whole numbers, which is folded modulo 2^width into the halves
// again. So results hold whatever overflows; they are the tightest of their kind where nothing overflows.
// What an operation leaves open (a divisor of 0) gives the full range. An empty range gives an empty one.
// Width 0 stands for what is not an integer of up to 64 bits: such a range is full, and so is what is made of it where
// the result's width comes from it.
// Cost: constant; shl: up to `width` steps for an amount that is not known; and, or, xor: `width` steps.
#pragma once

#include <cstdint>
#include <string>

namespace ptxopt {

class IntegerRange {
 public:
  // Has width 0.
  constexpr IntegerRange() = default;
  static constexpr IntegerRange full(unsigned width) {
    if (width == 0) return {};
    IntegerRange all;
    all.width_ = width;
    all.most_ = ~uint64_t{0} >> (64 - width);
    all.largest_ = static_cast<int64_t>(all.most_ >> 1);
    all.smallest_ = -all.largest_ - 1;
    return all;
  }
  static IntegerRange empty(unsigned width);
  // The low bits of `bits`.
  static IntegerRange constant(unsigned width, uint64_t bits);
  // least <= most, both of `width` bits.
  static IntegerRange ofUnsigned(unsigned width, uint64_t least, uint64_t most);
  // smallest <= largest, both of `width` bits, sign-extended.
  static IntegerRange ofSigned(unsigned width, int64_t smallest, int64_t largest);

  unsigned width() const { return width_; }
  bool isFull() const;
  bool isEmpty() const { return least_ > most_; }
  bool isConstant() const { return width_ != 0 && least_ == most_; }
  // For a range that is not empty. The first two are of `width` bits, the others are sign-extended.
  uint64_t least() const { return least_; }
  uint64_t most() const { return most_; }
  int64_t smallest() const { return smallest_; }
  int64_t largest() const { return largest_; }
  bool isNeverNegative() const { return width_ != 0 && smallest_ >= 0; }
  bool contains(uint64_t bits) const;
  bool contains(const IntegerRange& other) const;

  // Both have one width: what may be in either, what may be in both.
  IntegerRange join(const IntegerRange& other) const;
  IntegerRange meet(const IntegerRange& other) const;

  // "32: [0, 1023]", with a second interval where the signed one says more: "32: [0, 4294967295] signed [-5, 7]".
  std::string toString() const;
  friend bool operator==(const IntegerRange&, const IntegerRange&) = default;

 private:
  friend class RangeHalves;
  unsigned width_ = 0;
  uint64_t least_ = 0, most_ = 0;
  int64_t smallest_ = 0, largest_ = 0;
};

// ---- arithmetic modulo 2^width; both of equal width ----
IntegerRange add(const IntegerRange& a, const IntegerRange& b);
IntegerRange sub(const IntegerRange& a, const IntegerRange& b);
IntegerRange mul(const IntegerRange& a, const IntegerRange& b);
IntegerRange neg(const IntegerRange& a);
// The most negative number stays as it is.
IntegerRange abs(const IntegerRange& a);
// The upper half of the double product.
IntegerRange mulHighUnsigned(const IntegerRange& a, const IntegerRange& b);
IntegerRange mulHighSigned(const IntegerRange& a, const IntegerRange& b);
IntegerRange udiv(const IntegerRange& a, const IntegerRange& b);
IntegerRange urem(const IntegerRange& a, const IntegerRange& b);
// Rounded towards 0; the remainder has the sign of `a`.
IntegerRange sdiv(const IntegerRange& a, const IntegerRange& b);
IntegerRange srem(const IntegerRange& a, const IntegerRange& b);
IntegerRange umin(const IntegerRange& a, const IntegerRange& b);
IntegerRange umax(const IntegerRange& a, const IntegerRange& b);
IntegerRange smin(const IntegerRange& a, const IntegerRange& b);
IntegerRange smax(const IntegerRange& a, const IntegerRange& b);

// ---- bits ----
IntegerRange bitAnd(const IntegerRange& a, const IntegerRange& b);
IntegerRange bitOr(const IntegerRange& a, const IntegerRange& b);
IntegerRange bitXor(const IntegerRange& a, const IntegerRange& b);
IntegerRange bitNot(const IntegerRange& a);
// The amount is unsigned, of any width; what is shifted by the width or more is gone, or all sign.
IntegerRange shl(const IntegerRange& a, const IntegerRange& amount);
IntegerRange lshr(const IntegerRange& a, const IntegerRange& amount);
IntegerRange ashr(const IntegerRange& a, const IntegerRange& amount);
// Set bits and leading zeros, as numbers of `width` bits.
IntegerRange popc(const IntegerRange& a, unsigned width);
IntegerRange clz(const IntegerRange& a, unsigned width);

// ---- widths ----
IntegerRange sext(const IntegerRange& a, unsigned width);
IntegerRange zext(const IntegerRange& a, unsigned width);
IntegerRange trunc(const IntegerRange& a, unsigned width);

// ---- whether the whole number fits; never of width 0 ----
bool mulNeverWrapsUnsigned(const IntegerRange& a, const IntegerRange& b);
bool mulNeverWrapsSigned(const IntegerRange& a, const IntegerRange& b);

}  // namespace ptxopt
