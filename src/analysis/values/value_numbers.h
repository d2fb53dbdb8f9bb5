// Numbers for all values of a function, dense and in the order of the registers. Cost: linear in the registers.
#pragma once

#include <algorithm>
#include <vector>

#include "analysis/dataflow/live_intervals.h"

namespace ptxopt {

class ValueNumbers {
 public:
  explicit ValueNumbers(const LiveIntervals& intervals) {
    uint32_t all = 0;
    first_.reserve(intervals.size() + 1);
    for (uint32_t r = 0; r < intervals.size(); ++r) {
      first_.push_back(all);
      all += static_cast<uint32_t>(intervals[RegId(r)].values().size());
    }
    first_.push_back(all);
  }

  uint32_t operator()(RegId reg, ValueId v) const { return first_[reg.value] + v.value; }
  std::size_t size() const { return first_.back(); }
  // Back from a number, by binary search.
  RegId reg(uint32_t number) const {
    return RegId(static_cast<uint32_t>(std::ranges::upper_bound(first_, number) - first_.begin() - 1));
  }
  ValueId value(uint32_t number) const { return ValueId(number - first_[reg(number).value]); }

 private:
  std::vector<uint32_t> first_;  // by register: of its first value; then the number of all
};

}  // namespace ptxopt
