// Disjoint sets of the numbers 0 .. size() - 1, by union-find with path halving. Cost: nearly linear.
//
// The smallest number of a set is its root, so that nothing depends on the order of unions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace ptxopt {

class UnionFind {
 public:
  explicit UnionFind(std::size_t size = 0) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0u); }

  std::size_t size() const { return parent_.size(); }

  // One number more, in a set of its own.
  uint32_t add() {
    parent_.push_back(static_cast<uint32_t>(parent_.size()));
    return parent_.back();
  }

  // The root of its set.
  uint32_t find(uint32_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }

  void unite(uint32_t a, uint32_t b) {
    a = find(a);
    b = find(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<uint32_t> parent_;
};

}  // namespace ptxopt
