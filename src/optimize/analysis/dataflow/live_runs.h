// Which global registers are live at the start of each block, for functions where a bit for each pair is too much.
//
// A run says that a register is live at the start of all blocks from `first` to `last`. Blocks are numbered in the
// order of the text, where a live range is contiguous but for branches around it, so there are about as many runs
// as places where a range begins, however many blocks it covers. The runs stand in the order of their first blocks.
// What covers a block are those that begin there or above: so that none needs to look far, every kShelf blocks
// there is a shelf, a list of the runs that come in from above. A block's registers are found on the shelf at or
// above it and among the runs that begin between the two.
// Invariant: the runs of a register neither overlap nor touch; equal sets have equal runs.
// Cost: 8 bytes a run, 8 bytes a register on each shelf, 4 bytes a block. A question costs the result plus the runs
// that begin in up to kShelf blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/dataflow/cfg.h"

namespace ptxopt {

class LiveRuns {
 public:
  struct Run {
    uint32_t number;       // of a global register
    uint32_t first, last;  // blocks
    friend bool operator==(const Run&, const Run&) = default;
  };

  // No run yet, for no block.
  LiveRuns() = default;
  // False, and without runs, when they and the shelves take more than `mostBytes`.
  bool make(std::size_t blocks, const std::vector<Run>& runs, std::size_t mostBytes);

  // Calls `visit(number)` for what is live at the start of a block, in no particular order.
  template <typename Visit>
  void forEach(BlockId block, Visit visit) const {
    const uint32_t b = block.value, shelf = b / kShelf;
    for (uint32_t k = shelfStart_[shelf]; k < shelfStart_[shelf + 1]; ++k)
      if (onShelves_[k].last >= b) visit(onShelves_[k].number);
    for (uint32_t k = start_[shelf * kShelf]; k < start_[b + 1]; ++k)
      if (runs_[k].last >= b) visit(runs_[k].number);
  }

  // By first block.
  std::vector<Run> all() const {
    std::vector<Run> result;
    result.reserve(runs_.size());
    for (uint32_t b = 0; b + 1 < start_.size(); ++b)
      for (uint32_t k = start_[b]; k < start_[b + 1]; ++k) result.push_back({runs_[k].number, b, runs_[k].last});
    return result;
  }

  // The bytes of that many runs, shelves aside.
  static std::size_t bytesOf(std::size_t runs) { return runs * sizeof(Rest); }

  friend bool operator==(const LiveRuns&, const LiveRuns&) = default;

 private:
  static constexpr uint32_t kShelf = 32;

  struct Rest {  // of a run whose first block is known
    uint32_t last, number;
    friend bool operator==(const Rest&, const Rest&) = default;
  };

  std::vector<Rest> runs_;            // by first block, then number
  std::vector<uint32_t> start_;       // by block: its first in runs_; and the end of the last
  std::vector<Rest> onShelves_;       // those that begin above the shelf's first block and reach it
  std::vector<uint32_t> shelfStart_;  // by shelf: its first in onShelves_; and the end of the last
};

}  // namespace ptxopt
