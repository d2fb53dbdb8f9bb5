// The run is executed on names first, so that its end gives one source for each target. Trees are written from their
// leaves; a cycle with a tree is opened by the tree's register that holds one of its values. Other cycles need a spare
// register or, without one, the first leaf.
#include "passes/coalescing/parallel_copy.h"

#include <numeric>

namespace ptxopt {
namespace {

constexpr uint32_t kNoRegister = UINT32_MAX;

class Sequentialiser {
 public:
  explicit Sequentialiser(const CopySequence& s) : s_(s), count_(static_cast<uint32_t>(s.held.size())) {}

  ShortCopies run() {
    findSources();
    peelTrees();
    findCycles();
    if (!lonely_.empty() && spare_ == kNoRegister) {
      // No register is free: the first leaf serves before it is written. There is one: the first write of the
      // sequence destroys a value that nobody takes, unless it wrote what was there already.
      if (leaves_.empty()) return {s_.moves, result_.swaps, result_.rotations};
      spare_ = leaves_.front();
      for (const uint32_t r : lonely_) open(r, spare_);
      emitTrees();
    } else {
      emitTrees();
      for (const uint32_t r : lonely_) open(r, spare_);
    }
    return std::move(result_);
  }

 private:
  // source_: what each register that changes takes, as the register that held it first.
  void findSources() {
    std::vector<uint32_t> from(count_);
    std::iota(from.begin(), from.end(), 0u);
    std::vector<bool> isWritten(count_);
    for (const Move& m : s_.moves) {
      from[m.to] = from[m.from];
      isWritten[m.to] = true;
    }
    source_.assign(count_, kNoRegister);
    readers_.assign(count_, 0);
    for (uint32_t r = 0; r < count_; ++r) {
      if (isWritten[r] && !s_.isNeeded[r] && spare_ == kNoRegister) spare_ = r;
      if (!s_.isNeeded[r] || s_.held[from[r]] == s_.held[r]) continue;
      source_[r] = from[r];
      ++readers_[from[r]];
    }
  }

  // leaves_: the targets outside cycles, each before those that it reads.
  void peelTrees() {
    for (uint32_t r = 0; r < count_; ++r)
      if (source_[r] != kNoRegister && readers_[r] == 0) leaves_.push_back(r);
    isPeeled_.assign(count_, false);
    for (std::size_t k = 0; k < leaves_.size(); ++k) {
      isPeeled_[leaves_[k]] = true;
      const uint32_t s = source_[leaves_[k]];
      if (--readers_[s] == 0 && source_[s] != kNoRegister) leaves_.push_back(s);
    }
  }

  bool isInCycle(uint32_t r) const { return source_[r] != kNoRegister && !isPeeled_[r]; }

  void findCycles() {
    std::vector<uint32_t> hanging(count_, kNoRegister);
    for (const uint32_t r : leaves_)
      if (isInCycle(source_[r])) hanging[source_[r]] = r;
    std::vector<bool> isSeen(count_);
    for (uint32_t r = 0; r < count_; ++r) {
      if (!isInCycle(r) || isSeen[r]) continue;
      uint32_t length = 0, opening = kNoRegister;
      for (uint32_t c = r; !isSeen[c]; c = source_[c]) {
        isSeen[c] = true;
        ++length;
        if (hanging[c] != kNoRegister) opening = c;
      }
      ++(length == 2 ? result_.swaps : result_.rotations);
      if (opening != kNoRegister) {
        openings_.push_back({opening, hanging[opening]});
      } else {
        lonely_.push_back(r);
      }
    }
  }

  void emitTrees() {
    for (const uint32_t r : leaves_) result_.moves.push_back({r, source_[r]});
    for (const Move& o : openings_) openHeld(o.to, o.from);
  }

  // Writes a cycle; `copy` holds what `first` held.
  void openHeld(uint32_t first, uint32_t copy) {
    for (uint32_t r = first;; r = source_[r]) {
      const bool isLast = source_[r] == first;
      result_.moves.push_back({r, isLast ? copy : source_[r]});
      if (isLast) return;
    }
  }

  void open(uint32_t first, uint32_t temporary) {
    result_.moves.push_back({temporary, first});
    openHeld(first, temporary);
  }

  const CopySequence& s_;
  uint32_t count_;
  ShortCopies result_;
  std::vector<uint32_t> source_, readers_;  // by register
  std::vector<bool> isPeeled_;              // by register
  std::vector<uint32_t> leaves_;
  std::vector<uint32_t> lonely_;  // a register of each cycle without trees
  std::vector<Move> openings_;    // a register of each other cycle, and the one that has its value, too
  uint32_t spare_ = kNoRegister;
};

}  // namespace

ShortCopies shortestCopies(const CopySequence& sequence) { return Sequentialiser(sequence).run(); }

}  // namespace ptxopt
