// Who may have whose code in it, from the mentions of functions. Sets of functions are by their places in the list.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptxopt/ptxopt.h"
#include "support/bit_vector.h"

namespace ptxopt::cut {

template <typename Is>
BitVector functionsThat(const std::vector<FunctionOutcome>& functions, Is is) {
  BitVector found(functions.size());
  for (std::size_t f = 0; f < functions.size(); ++f)
    if (std::invoke(is, functions[f])) found.set(f);
  return found;
}

class CallGraph {
 public:
  explicit CallGraph(const std::vector<FunctionOutcome>& functions);

  const FunctionOutcome& operator[](uint32_t function) const { return functions_[function]; }

  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t indexOf(std::string_view name) const;
  // The function and all that it reaches. Linear in those and their mentions.
  std::vector<uint32_t> closure(uint32_t function) const;
  // All that these reach, themselves included. Linear in all mentions.
  BitVector reachedFrom(const BitVector& roots) const;
  // All that reach one of these, themselves included. Linear in all mentions.
  BitVector whoReach(const BitVector& any) const;
  std::size_t kernelsThatReach(uint32_t function) const;

 private:
  auto mentioned() const {
    return [this](uint32_t f) -> const std::vector<uint32_t>& { return functions_[f].mentions; };
  }

  const std::vector<FunctionOutcome>& functions_;
  std::unordered_map<std::string_view, uint32_t> byName_;
};

}  // namespace ptxopt::cut
