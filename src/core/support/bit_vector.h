// A set of small integers in 64-bit words.
//
// Invariant: bits of the last word past the size are zero, after every operation. Without that, comparisons and iterations
// would see elements that are none.
//
// Sets that are combined have one size, except in the operations on slices. The loops over words are kept so simple that the
// compiler makes vector instructions of them: those that look for a difference take sixteen words at a time and branch
// once for these. tests/perf/bit_vector.cpp measures that.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptxopt {

class BitVector {
  friend class BitRows;

 public:
  BitVector() = default;
  explicit BitVector(std::size_t bits) : words_(wordsOf(bits)), size_(bits) {}

  std::size_t size() const { return size_; }
  // New elements are not in the set.
  void resize(std::size_t bits) {
    words_.resize(wordsOf(bits));
    size_ = bits;
    if (size_ % 64 != 0) words_.back() &= (uint64_t{1} << (size_ % 64)) - 1;
  }

  // ---- single elements ----

  bool test(std::size_t i) const { return words_[i / 64] >> (i % 64) & 1; }
  void set(std::size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void reset(std::size_t i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }

  // ---- the whole set ----

  void clear() { std::fill(words_.begin(), words_.end(), 0); }
  // Empties the words of the first `bits` elements, and so up to 63 elements more.
  void clearPrefix(std::size_t bits) { std::fill_n(words_.begin(), wordsOf(bits), 0); }

  // ---- two sets ----

  BitVector& operator|=(const BitVector& other) {
    return combine(other, [](uint64_t a, uint64_t b) { return a | b; });
  }
  BitVector& operator&=(const BitVector& other) {
    return combine(other, [](uint64_t a, uint64_t b) { return a & b; });
  }
  // Takes the elements of `other` out.
  BitVector& andNot(const BitVector& other) {
    return combine(other, [](uint64_t a, uint64_t b) { return a & ~b; });
  }

  // Adds the elements of a smaller set to the slice from `first`, a multiple of 64, on.
  void orAt(std::size_t first, const BitVector& smaller) {
    assert(first % 64 == 0 && first / 64 + smaller.words_.size() <= words_.size());
    uint64_t* const to = words_.data() + first / 64;
    const uint64_t* const from = smaller.words_.data();
    for (std::size_t w = 0, n = smaller.words_.size(); w < n; ++w) to[w] |= from[w];
  }

  // ---- questions ----

  bool none() const {
    return noWord(words_.size(), [a = words_.data()](std::size_t w) { return a[w]; });
  }
  bool isSubsetOf(const BitVector& other) const {
    assert(size_ == other.size_);
    return noWord(words_.size(),
                  [a = words_.data(), b = other.words_.data()](std::size_t w) { return a[w] & ~b[w]; });
  }
  friend bool operator==(const BitVector&, const BitVector&) = default;

  // ---- elements in ascending order ----

  // The first element, or the first from `i` on; size() when there is none.
  std::size_t findFirst() const { return findFrom(0); }
  std::size_t findFrom(std::size_t i) const {
    if (i >= size_) return size_;
    std::size_t w = i / 64;
    uint64_t word = words_[w] & (~uint64_t{0} << (i % 64));
    while (word == 0) {
      if (++w == words_.size()) return size_;
      word = words_[w];
    }
    return w * 64 + static_cast<std::size_t>(std::countr_zero(word));
  }
  // The first from `i` on that is not an element; size() when there is none.
  std::size_t findClearFrom(std::size_t i) const { return findClearIn(i, size_); }
  // The same below `end`, which is the result when there is none.
  std::size_t findClearIn(std::size_t i, std::size_t end) const {
    assert(end <= size_);
    if (i >= end) return end;
    std::size_t w = i / 64;
    uint64_t word = ~words_[w] & (~uint64_t{0} << (i % 64));
    while (word == 0) {
      if (++w == wordsOf(end)) return end;
      word = ~words_[w];
    }
    return std::min(end, w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
  }
  // The first after `i`.
  std::size_t findNext(std::size_t i) const { return findFrom(i + 1); }

  // Calls `visit(i)` for each element.
  template <typename Visit>
  void forEach(Visit visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (uint64_t word = words_[w]; word != 0; word &= word - 1)
        visit(w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
  }

 private:
  static constexpr std::size_t kChunk = 16;

  static std::size_t wordsOf(std::size_t bits) { return (bits + 63) / 64; }

  template <typename Combine>
  BitVector& combine(const BitVector& other, Combine combineWords) {
    assert(size_ == other.size_);
    uint64_t* const to = words_.data();
    const uint64_t* const from = other.words_.data();
    for (std::size_t w = 0, n = words_.size(); w < n; ++w) to[w] = combineWords(to[w], from[w]);
    return *this;
  }

  // The first of `n` words for which `value(w)` is not zero, or n.
  template <typename Value>
  static std::size_t firstWord(std::size_t n, Value value) {
    std::size_t w = 0;
    for (; w + kChunk <= n; w += kChunk) {
      uint64_t some = 0;
#pragma GCC unroll 1  // a loop that is gone is not vectorized
      for (std::size_t k = 0; k < kChunk; ++k) some |= value(w + k);
      if (some != 0) break;
    }
    while (w < n && value(w) == 0) ++w;
    return w;
  }
  template <typename Value>
  static bool noWord(std::size_t n, Value value) {
    return firstWord(n, value) == n;
  }

  // Gives `n` words their new values `next(w)`, from the first on that differs; whether one does. A solver that is near its
  // fixed point reads much and writes little.
  template <typename Next>
  static bool updateIfChanged(uint64_t* to, std::size_t n, Next next) {
    std::size_t w = firstWord(n, [&](std::size_t at) { return to[at] ^ next(at); });
    if (w == n) return false;
    for (; w < n; ++w) to[w] = next(w);
    return true;
  }

  std::vector<uint64_t> words_;
  std::size_t size_ = 0;
};

}  // namespace ptxopt
