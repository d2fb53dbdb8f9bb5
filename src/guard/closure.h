// Who may have whose code in it, from the mentions of functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptxopt/ptxopt.h"

namespace ptxopt {

class CallGraph {
 public:
  explicit CallGraph(const std::vector<FunctionOutcome>& functions);

  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t indexOf(std::string_view name) const;
  // The function and all that it reaches. Linear in those and their mentions.
  std::vector<uint32_t> closure(uint32_t function) const;
  // All that these reach, themselves included. Linear in all mentions.
  std::vector<bool> reachedFrom(const std::vector<bool>& roots) const;
  // Whether it reaches one of these, by function, itself included.
  bool reaches(uint32_t function, const std::vector<bool>& any) const;
  std::size_t kernelsThatReach(uint32_t function) const;

 private:
  const std::vector<FunctionOutcome>& functions_;
  std::unordered_map<std::string_view, uint32_t> byName_;
};

}  // namespace ptxopt
