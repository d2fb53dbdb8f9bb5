// The fixed-point number holds two's complement words. A term is added by its 53-bit significand, shifted to its place,
// and the result keeps a sticky last bit for what is cut off.
#include "exec/matrix/exact_sum.h"

#include <bit>
#include <cmath>

namespace ptxopt::exec::matrix {

void ExactSum::widen(double term) {
  isWide_ = true;
  wide_.fill(0);
  addTo(wide_, high_);
  addTo(wide_, low_);
  addTo(wide_, term);
}

void ExactSum::addTo(Words& words, double term) {
  if (term == 0.0) return;
  int exponent;
  const double fraction = std::frexp(std::fabs(term), &exponent);
  const auto significand = static_cast<uint64_t>(std::ldexp(fraction, 53));
  const auto shift = static_cast<unsigned>(exponent - 53 - kLowest);
  unsigned word = shift / 64;
  const unsigned bit = shift % 64;
  uint64_t parts[2] = {significand << bit, bit == 0 ? 0 : significand >> (64 - bit)};
  const bool subtract = std::signbit(term);
  uint64_t carry = 0;
  for (unsigned i = 0; word < kWords && (i < 2 || carry != 0); ++i, ++word) {
    const uint64_t part = i < 2 ? parts[i] : 0;
    const uint64_t before = words[word];
    if (subtract) {
      const uint64_t partial = before - part;
      words[word] = partial - carry;
      carry = static_cast<uint64_t>(before < part) | static_cast<uint64_t>(partial < carry);
    } else {
      const uint64_t partial = before + part;
      words[word] = partial + carry;
      carry = static_cast<uint64_t>(partial < before) | static_cast<uint64_t>(words[word] < partial);
    }
  }
}

double ExactSum::roundedToOdd() const {
  Words w = wide_;
  const bool negative = (w[kWords - 1] >> 63) != 0;
  if (negative) {
    uint64_t carry = 1;
    for (uint64_t& word : w) {
      word = ~word + carry;
      carry = static_cast<uint64_t>(carry != 0 && word == 0);
    }
  }
  int top = kWords - 1;
  while (top >= 0 && w[static_cast<unsigned>(top)] == 0) --top;
  if (top < 0) return 0.0;  // an inexact double sum that cancelled later: +0, as in IEEE 754
  const auto at = [&](int i) { return i >= 0 ? w[static_cast<unsigned>(i)] : 0; };
  const int leading = std::countl_zero(at(top));
  uint64_t bits = at(top) << leading;
  if (leading != 0) bits |= at(top - 1) >> (64 - leading);
  uint64_t rest = leading != 0 ? at(top - 1) << leading : at(top - 1);
  for (int i = top - 2; i >= 0; --i) rest |= at(i);
  // 64 bits to 53: what is cut off makes the last bit odd.
  const bool inexact = rest != 0 || (bits & 0x7ff) != 0;
  const uint64_t significand = bits >> 11 | static_cast<uint64_t>(inexact);
  const double magnitude = std::ldexp(static_cast<double>(significand), kLowest + 64 * top - leading + 11);
  return negative ? -magnitude : magnitude;
}

}  // namespace ptxopt::exec::matrix
