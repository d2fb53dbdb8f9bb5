// A sum of doubles without rounding, rounded once when it is read.
//
// Terms are finite doubles whose bits all weigh 2^-640 to 2^640: products of narrow floats and f32 values. The sum
// is held in two doubles while that is exact: each addition computes its error (Knuth's two-sum), errors are added
// up in the second double, and only when one of those additions has an error too do the terms go into a fixed-point
// number of 24 words. result() is the exact sum rounded to odd to 53 bits, so that rounding it again, to nearest,
// to at most 51 bits, is a correct rounding of the exact sum.
#pragma once

#include <array>
#include <cstdint>

#include "exec/value/float_nearest.h"

namespace ptxopt::exec::matrix {

class ExactSum {
 public:
  explicit ExactSum(double first) : high_(first) {}

  void add(double term) {
    if (isWide_) {
      addTo(wide_, term);
      return;
    }
    const double sum = high_ + term;
    const double error = errorOf(high_, term, sum);
    if (error != 0.0) {
      const double low = low_ + error;
      if (errorOf(low_, error, low) != 0.0) {
        widen(term);
        return;
      }
      low_ = low;
    }
    high_ = sum;
  }

  double result() const {
    if (isWide_) return roundedToOdd();
    return low_ == 0.0 ? high_ : addToOdd(high_, low_);  // the former keeps the sign of a zero
  }

 private:
  // Two's complement, least word first; bit 0 weighs 2^kLowest. 24 words leave room for 2^100 terms.
  static constexpr int kWords = 24;
  static constexpr int kLowest = -704;
  using Words = std::array<uint64_t, kWords>;

  // What a + b, rounded to `sum`, lost.
  static double errorOf(double a, double b, double sum) {
    const double bPart = sum - a;
    return (a - (sum - bPart)) + (b - bPart);
  }
  static void addTo(Words& words, double term);
  void widen(double term);
  double roundedToOdd() const;

  double high_, low_ = 0.0;
  bool isWide_ = false;
  Words wide_;  // not set before isWide_
};

}  // namespace ptxopt::exec::matrix
