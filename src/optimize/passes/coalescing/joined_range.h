// Where a set of joined registers is live, and with which value.
//
// Sorted pieces [start, end), each with the root (copy_values.h) of the value that is held there; they do not
// overlap, and pieces with one root that touch are one. Two such ranges may be joined when no place has two roots.
// Storage: a sorted vector while there are few pieces, a balanced tree from kMany on, however few are left when gaps are
// filled, so that joining a small range to a large one costs what the small one is, times a logarithm: n joins are
// n log^2 n altogether.
#pragma once

#include <map>
#include <vector>

#include "analysis/dataflow/slot_indexes.h"

namespace ptxopt {

class JoinedRange {
 public:
  struct Piece {
    SlotIndex start, end;
    uint32_t root;
  };

  bool empty() const { return few_.empty() && many_.empty(); }
  std::size_t size() const { return isTree() ? many_.size() : few_.size(); }
  // After everything there is.
  void append(Piece p);
  // The root of the value held at `i`; UINT32_MAX where none is.
  uint32_t rootAt(SlotIndex i) const;
  // Whether some place has two different roots.
  bool conflicts(const JoinedRange& other) const;
  // Takes over all of `other`, with which it does not conflict.
  void join(JoinedRange&& other);

  template <typename Visit>
  void forEach(Visit visit) const {
    for (const Piece& p : few_) visit(p);
    for (const auto& [start, rest] : many_) visit(Piece{start, rest.end, rest.root});
  }

 private:
  static constexpr std::size_t kMany = 64;
  struct Rest {
    SlotIndex end;
    uint32_t root;
  };

  bool isTree() const { return !many_.empty(); }
  void makeTree();
  bool conflictsWith(const Piece& p) const;
  void insert(Piece p);

  std::vector<Piece> few_;
  std::map<SlotIndex, Rest> many_;
};

}  // namespace ptxopt
