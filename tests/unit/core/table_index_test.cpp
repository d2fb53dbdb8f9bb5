#include "support/table_index.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace ptxopt {
namespace {

struct Row {
  std::string_view name;
  int number;
};

// Names of one length and of all first letters, as opcodes have; two of them twice.
constexpr Row kRows[] = {{"add", 3}, {"sub", 1}, {"mul", 3}, {"", 7},    {"add", 2}, {"mad", 9}, {"and", 4},
                         {"dda", 4}, {"abs", 1}, {"bfe", 0}, {"sub", 5}, {"a", 11},  {"aa", 12}, {"aaa", 13}};

constexpr TableIndex kByName(kRows, [](const Row& row) { return row.name; });
constexpr TableIndex kByNumber(kRows, [](const Row& row) { return row.number; });

template <typename Index, typename Key>
std::vector<std::ptrdiff_t> placesOf(const Index& index, const Key& key) {
  std::vector<std::ptrdiff_t> places;
  for (const Row& row : index.rows(key)) places.push_back(&row - kRows);
  return places;
}

TEST_CASE("table index: all rows of a key, the first one first, and none of another") {
  std::vector<std::string> names{"ad", "addd", "b", "dad", "zzz"};
  for (const Row& row : kRows) names.emplace_back(row.name);
  for (char a = 'a'; a <= 'z'; ++a)
    for (char b = 'a'; b <= 'z'; ++b) names.push_back({a, b});
  for (const std::string& name : names) {
    std::vector<std::ptrdiff_t> expected;
    for (const Row& row : kRows)
      if (row.name == name) expected.push_back(&row - kRows);
    CHECK_MESSAGE(placesOf(kByName, std::string_view(name)) == expected, name);
    const Row* const found = kByName.find(std::string_view(name));
    CHECK((found == nullptr ? expected.empty() : !expected.empty() && found == kRows + expected[0]));
  }
}

TEST_CASE("table index: numbers") {
  for (int number = -1; number <= 14; ++number) {
    std::vector<std::ptrdiff_t> expected;
    for (const Row& row : kRows)
      if (row.number == number) expected.push_back(&row - kRows);
    CHECK(placesOf(kByNumber, number) == expected);
    CHECK((kByNumber.find(number) == nullptr) == expected.empty());
  }
}

}  // namespace
}  // namespace ptxopt
