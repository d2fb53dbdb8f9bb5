#include "timing/copies.h"

#include <algorithm>
#include <tuple>

namespace ptxopt::timing {

void Copies::add(uint32_t line, const Operation& operation) {
  ++all_[line];
  Work work;
  work.add(operation, 1);
  for (const Witness by : {Witness::Computed, Witness::Exchanged, Witness::Read, Witness::Written}) {
    if (of(work, by) == 0) continue;
    ++telling_[line];
    by_.try_emplace(line, by);
    break;
  }
}

uint32_t Copies::count() const {
  struct Votes {
    uint32_t lines = 0;
    Witness by = Witness::Written;
  };
  std::map<uint32_t, Votes> votes;  // by number of instructions
  for (const auto& [line, number] : telling_) {
    Votes& v = votes[number];
    ++v.lines;
    v.by = std::min(v.by, by_.at(line));
  }
  const auto isLess = [](const auto& a, const auto& b) {
    return std::tuple(a.second.lines, b.second.by, a.first) < std::tuple(b.second.lines, a.second.by, b.first);
  };
  if (!votes.empty()) return std::ranges::max_element(votes, isLess)->first;
  const auto isOne = [](const auto& line) { return line.second == 1; };
  return !all_.empty() && std::ranges::all_of(all_, isOne) ? 1 : 0;
}

}  // namespace ptxopt::timing
