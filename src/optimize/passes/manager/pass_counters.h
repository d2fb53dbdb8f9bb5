// The counters of a report: a few numbers by name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxopt {

// A map in order of the names. Most are empty, and there is one for each pass and function, so that it is half as large as std::map.
class PassCounters : public std::vector<std::pair<std::string_view, uint64_t>> {
 public:
  uint64_t& operator[](std::string_view name) {
    const auto place = std::ranges::lower_bound(*this, name, {}, &value_type::first);
    if (place != end() && place->first == name) return place->second;
    return insert(place, {name, 0})->second;
  }
  // Throws std::out_of_range where there is none.
  uint64_t at(std::string_view name) const {
    const auto place = std::ranges::lower_bound(*this, name, {}, &value_type::first);
    if (place == end() || place->first != name) throw std::out_of_range("no such counter");
    return place->second;
  }
};

}  // namespace ptxopt
