#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <ranges>
#include <tuple>

namespace ptxopt {

// The rows of a table of constants by a key, found by binary search. It is made while compiling: a start builds nothing.
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
  }

  // A range of const Row&.
  template <typename Value>
  auto rows(const Value& value) const {
    const auto found = std::ranges::equal_range(order_, value, std::ranges::less{},
                                                [this](uint16_t at) { return std::invoke(key_, table_[at]); });
    return std::views::transform(found, [this](uint16_t at) -> const Row& { return table_[at]; });
  }

  template <typename Value>
  const Row* find(const Value& value) const {
    const auto keyAt = [this](uint16_t at) { return std::invoke(key_, table_[at]); };
    const auto found = std::ranges::lower_bound(order_, value, std::ranges::less{}, keyAt);
    return found != order_.end() && keyAt(*found) == value ? &table_[*found] : nullptr;
  }

 private:
  static_assert(N <= UINT16_MAX);

  const Row* table_;
  Key key_;
  std::array<uint16_t, N> order_{};
};

}  // namespace ptxopt
