// A row of numbers with the largest of a range, and adding to a range, in logarithmic time.
//
// Algorithm: a segment tree whose nodes keep what was added to all of their range and the largest below, so that
// nothing is pushed down. Cost: 16 bytes a number; linear to make.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace ptxopt {

class RangeMax {
 public:
  explicit RangeMax(std::span<const uint32_t> values) : size_(values.size()) {
    while (leaves_ < size_) leaves_ *= 2;
    nodes_.resize(2 * leaves_);
    for (std::size_t i = 0; i < leaves_; ++i) nodes_[leaves_ + i].most = i < size_ ? int64_t{values[i]} : kLeast;
    for (std::size_t n = leaves_; n-- > 1;) nodes_[n].most = std::max(nodes_[2 * n].most, nodes_[2 * n + 1].most);
  }

  // The maximum of [first, end); a very small number for an empty range.
  int64_t most(std::size_t first, std::size_t end) const { return most(1, 0, leaves_, first, end); }
  int64_t most() const { return nodes_[1].most; }
  void add(std::size_t first, std::size_t end, int64_t n) { add(1, 0, leaves_, first, end, n); }

 private:
  static constexpr int64_t kLeast = INT64_MIN / 2;
  struct Node {
    int64_t most = kLeast;  // of the range, with what was added to it but not with what was added above
    int64_t added = 0;
  };

  int64_t most(std::size_t n, std::size_t begin, std::size_t stop, std::size_t first, std::size_t end) const {
    if (end <= begin || stop <= first || first >= end) return kLeast;
    if (first <= begin && stop <= end) return nodes_[n].most;
    const std::size_t middle = (begin + stop) / 2;
    return nodes_[n].added +
           std::max(most(2 * n, begin, middle, first, end), most(2 * n + 1, middle, stop, first, end));
  }
  void add(std::size_t n, std::size_t begin, std::size_t stop, std::size_t first, std::size_t end, int64_t by) {
    if (end <= begin || stop <= first || first >= end) return;
    if (first <= begin && stop <= end) {
      nodes_[n].most += by;
      nodes_[n].added += by;
      return;
    }
    const std::size_t middle = (begin + stop) / 2;
    add(2 * n, begin, middle, first, end, by);
    add(2 * n + 1, middle, stop, first, end, by);
    nodes_[n].most = nodes_[n].added + std::max(nodes_[2 * n].most, nodes_[2 * n + 1].most);
  }

  std::size_t size_, leaves_ = 1;
  std::vector<Node> nodes_;
};

}  // namespace ptxopt
