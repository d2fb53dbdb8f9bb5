// Many sets of one size, one after the other in memory: for a function's blocks, say, where a vector for each would
// cost more than its few bits. The operations are those of BitVector, with the number of a row.
#pragma once

#include "support/bit_vector.h"

namespace ptxopt {

class BitRows {
 public:
  BitRows() = default;
  BitRows(std::size_t rows, std::size_t bits) : stride_(BitVector::wordsOf(bits)), words_(rows * stride_) {}

  bool test(std::size_t row, std::size_t i) const { return at(row)[i / 64] >> (i % 64) & 1; }
  void set(std::size_t row, std::size_t i) { at(row)[i / 64] |= uint64_t{1} << (i % 64); }
  void reset(std::size_t row, std::size_t i) { at(row)[i / 64] &= ~(uint64_t{1} << (i % 64)); }

  // Adds a row to the slice of a larger set from `first`, a multiple of 64, on.
  void addTo(std::size_t row, BitVector& larger, std::size_t first) const {
    assert(first % 64 == 0 && first / 64 + stride_ <= larger.words_.size());
    for (std::size_t w = 0; w < stride_; ++w) larger.words_[first / 64 + w] |= at(row)[w];
  }
  // The other way around; whether the row changed.
  bool orSliceIfChanged(std::size_t row, const BitVector& larger, std::size_t first) {
    assert(first % 64 == 0 && first / 64 + stride_ <= larger.words_.size());
    return BitVector::updateIfChanged(
        at(row), stride_,
        [a = at(row), b = larger.words_.data() + first / 64](std::size_t w) { return a[w] | b[w]; });
  }

  // row |= in & ~kill; whether the row changed. `in` is a row of this, or a set.
  bool orWithAndNotIfChanged(std::size_t row, std::size_t in, const BitRows& kill) {
    return orWithAndNotIfChanged(at(row), at(in), kill.at(row));
  }
  bool orWithAndNotIfChanged(std::size_t row, const BitVector& in, const BitRows& kill) {
    return orWithAndNotIfChanged(at(row), in.words_.data(), kill.at(row));
  }

  template <typename Visit>
  void forEach(std::size_t row, Visit visit) const {
    for (std::size_t w = 0; w < stride_; ++w)
      for (uint64_t word = at(row)[w]; word != 0; word &= word - 1)
        visit(w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
  }
  friend bool operator==(const BitRows&, const BitRows&) = default;

 private:
  const uint64_t* at(std::size_t row) const { return words_.data() + row * stride_; }
  uint64_t* at(std::size_t row) { return words_.data() + row * stride_; }
  bool orWithAndNotIfChanged(uint64_t* to, const uint64_t* in, const uint64_t* kill) const {
    return BitVector::updateIfChanged(to, stride_, [=](std::size_t w) { return to[w] | (in[w] & ~kill[w]); });
  }

  std::size_t stride_ = 0;  // words
  std::vector<uint64_t> words_;
};

}  // namespace ptxopt
