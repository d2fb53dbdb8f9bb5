// A fixed-size set of small integers in 64-bit words. Bits past the size are kept zero.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptxopt {

class BitVector {
 public:
  BitVector() = default;
  explicit BitVector(std::size_t bits) : words_((bits + 63) / 64), size_(bits) {}

  std::size_t size() const { return size_; }
  bool test(std::size_t i) const { return words_[i / 64] >> (i % 64) & 1; }
  void set(std::size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void reset(std::size_t i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }

  // Empties the words of the first `bits` elements.
  void clearPrefix(std::size_t bits) { std::fill_n(words_.begin(), (bits + 63) / 64, 0); }

  // Union into this; whether that changed anything.
  bool orIfChanged(const BitVector& other) {
    uint64_t changed = 0;
    for (std::size_t w = 0; w < other.words_.size(); ++w) {
      changed |= other.words_[w] & ~words_[w];
      words_[w] |= other.words_[w];
    }
    return changed != 0;
  }

  // Union of the first size() elements of a set that may be larger; whether that changed anything. The elements of
  // `larger` from size() up to the next multiple of 64 are zero.
  bool orPrefixIfChanged(const BitVector& larger) {
    uint64_t changed = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      changed |= larger.words_[w] & ~words_[w];
      words_[w] |= larger.words_[w];
    }
    return changed != 0;
  }

  std::size_t count() const {
    std::size_t n = 0;
    for (const uint64_t word : words_) n += static_cast<std::size_t>(std::popcount(word));
    return n;
  }

  // Calls `visit(i)` for each element in ascending order.
  template <typename Visit>
  void forEach(Visit visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (uint64_t word = words_[w]; word != 0; word &= word - 1)
        visit(w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
  }

  friend bool operator==(const BitVector&, const BitVector&) = default;

 private:
  std::vector<uint64_t> words_;
  std::size_t size_ = 0;
};

}  // namespace ptxopt
