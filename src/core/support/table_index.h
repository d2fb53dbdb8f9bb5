#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <ranges>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace ptxopt {

// The rows of a table of constants by a key. It is made while compiling: a start builds nothing. Texts are found by hashing, other
// keys by binary search.
//
//   constexpr TableIndex kByName(kRows, [](const Row& row) { return row.name; });
//   const Row* row = kByName.find("a");  // the first one; nullptr: there is none
//
// Rows of equal keys keep the table's order, or have that of `rank`, a smaller one first.
template <typename Row, std::size_t N, typename Key>
class TableIndex {
 public:
  consteval TableIndex(const Row (&table)[N], Key key) : TableIndex(table, key, [](const Row&) { return 0; }) {}
  template <typename Rank>
  consteval TableIndex(const Row (&table)[N], Key key, Rank rank) : table_(table), key_(key) {
    std::iota(order_.begin(), order_.end(), uint16_t{0});
    const auto place = [&](uint16_t at) { return std::tuple(std::invoke(key, table[at]), rank(table[at]), at); };
    std::sort(order_.begin(), order_.end(), [&](uint16_t a, uint16_t b) { return place(a) < place(b); });
    if constexpr (kIsText)
      for (std::size_t k = 0; k < N; ++k)
        if (k == 0 || keyAt(k) != keyAt(k - 1)) hashed_[slotOf(keyAt(k))] = static_cast<uint16_t>(k + 1);
  }

  // A range of const Row&.
  template <typename Value>
  auto rows(const Value& value) const {
    const std::size_t first = firstOf(value);
    std::size_t end = first;
    while (end < N && keyAt(end) == value) ++end;
    return std::views::transform(std::span(order_).subspan(first, end - first),
                                 [this](uint16_t at) -> const Row& { return table_[at]; });
  }

  template <typename Value>
  const Row* find(const Value& value) const {
    const std::size_t first = firstOf(value);
    return first < N && keyAt(first) == value ? &table_[order_[first]] : nullptr;
  }

 private:
  static_assert(N < UINT16_MAX);
  static constexpr bool kIsText =
      std::same_as<std::remove_cvref_t<std::invoke_result_t<Key, const Row&>>, std::string_view>;
  static constexpr std::size_t kSlots = kIsText ? std::bit_ceil(4 * N) : 1;

  constexpr decltype(auto) keyAt(std::size_t place) const { return std::invoke(key_, table_[order_[place]]); }

  // Where the rows of a key begin in order_, if there are any.
  template <typename Value>
  constexpr std::size_t firstOf(const Value& value) const {
    if constexpr (kIsText) {
      const uint16_t place = hashed_[slotOf(value)];
      return place != 0 ? place - std::size_t{1} : N;
    } else {
      const auto key = [this](uint16_t at) { return std::invoke(key_, table_[at]); };
      return static_cast<std::size_t>(std::ranges::lower_bound(order_, value, {}, key) - order_.begin());
    }
  }

  // The slot that holds a text, or the empty one where it belongs.
  constexpr std::size_t slotOf(std::string_view text) const {
    uint32_t hash = 0;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x9E3779B1u;
    for (std::size_t slot = hash >> 16;; ++slot) {
      slot %= kSlots;
      if (hashed_[slot] == 0 || keyAt(hashed_[slot] - std::size_t{1}) == text) return slot;
    }
  }

  const Row* table_;
  Key key_;
  std::array<uint16_t, N> order_{};
  std::array<uint16_t, kSlots> hashed_{};  // one more than a place in order_; 0: empty
};

}  // namespace ptxopt
