// Numbers for the values of the registers of a function, dense and in the order of the registers. Cost: linear in the
// registers.
#pragma once

#include <algorithm>
#include <vector>

#include "analysis/dataflow/live_intervals.h"

namespace ptxopt {

class ValueNumbers {
 public:
  // For all registers.
  explicit ValueNumbers(const LiveIntervals& intervals) {
    number(intervals, [](uint32_t) { return true; });
  }
  // For those that `follows` accepts; the carry flag, register 0, is not one of them.
  ValueNumbers(const Function& f, const LiveIntervals& intervals, bool (*follows)(const Register&))
      : follows_(f.registers.size()) {
    for (std::size_t r = 1; r < f.registers.size(); ++r) follows_[r] = follows(f.registers[r]);
    number(intervals, [&](uint32_t r) { return follows_[r]; });
  }

  uint32_t operator()(RegId reg, ValueId v) const { return first_[reg.value] + v.value; }
  // Whether values of the register have numbers.
  bool contains(RegId reg) const { return follows_.empty() || follows_[reg.value]; }
  std::size_t size() const { return first_.back(); }
  // Back from a number, by binary search.
  RegId reg(uint32_t number) const {
    return RegId(static_cast<uint32_t>(std::ranges::upper_bound(first_, number) - first_.begin() - 1));
  }
  ValueId value(uint32_t number) const { return ValueId(number - first_[reg(number).value]); }

 private:
  template <typename F>
  void number(const LiveIntervals& intervals, F&& follows) {
    uint32_t all = 0;
    first_.reserve(intervals.size() + 1);
    for (uint32_t r = 0; r < intervals.size(); ++r) {
      first_.push_back(all);
      if (follows(r)) all += static_cast<uint32_t>(intervals[RegId(r)].values().size());
    }
    first_.push_back(all);
  }

  std::vector<bool> follows_;    // by register; empty: all
  std::vector<uint32_t> first_;  // by register: of its first value; then the number of all
};

}  // namespace ptxopt
