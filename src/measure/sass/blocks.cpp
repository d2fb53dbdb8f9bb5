// One pass marks the instructions that begin a block, a second cuts the code there, and a third adds successors by the
// flow of the last instruction.
#include "sass/blocks.h"

#include <algorithm>
#include <map>

#include "sass/decode.h"

namespace ptxopt::sass {
namespace {

class Cutter {
 public:
  Cutter(const std::vector<Instruction>& code, std::span<const IndirectBranch> branches)
      : code_(code), count_(countWithoutPadding(code)) {
    for (const IndirectBranch& branch : branches)
      if (const auto at = numberOf(branch.at)) targets_[*at] = &branch.targets;
  }

  std::vector<Block> cut() {
    if (count_ == 0) return {};
    markFirst();
    std::vector<Block> blocks;
    blockOf_.resize(count_);
    for (uint32_t i = 0; i < count_; ++i) {
      if (isFirst_[i]) blocks.push_back({i, i, isCalled_[i], {}});
      blocks.back().end = i + 1;
      blockOf_[i] = static_cast<uint32_t>(blocks.size() - 1);
    }
    for (Block& block : blocks) addSuccessors(block);
    return blocks;
  }

 private:
  // The number of the instruction at a place in bytes; none outside of the code.
  std::optional<uint32_t> numberOf(std::optional<int64_t> at) const {
    if (!at || *at < 0 || *at % kInstructionBytes != 0) return std::nullopt;
    const int64_t number = *at / kInstructionBytes;
    return number < static_cast<int64_t>(count_) ? std::optional(static_cast<uint32_t>(number)) : std::nullopt;
  }

  const std::vector<int64_t>* targetsOf(uint32_t i) const {
    const auto it = targets_.find(i);
    return it == targets_.end() ? nullptr : it->second;
  }

  void markFirst() {
    isFirst_.assign(count_ + 1, false);
    isFirst_[0] = true;
    isCalled_.assign(count_, false);
    const auto mark = [this](std::optional<int64_t> at) {
      if (const auto i = numberOf(at)) isFirst_[*i] = true;
    };
    for (uint32_t i = 0; i < count_; ++i) {
      const Flow flow = code_[i].flow();
      if (flow == Flow::Next) continue;
      if (flow != Flow::Call) isFirst_[i + 1] = true;
      if (flow == Flow::Branch || flow == Flow::Call) mark(code_[i].target);
      if (const auto to = numberOf(code_[i].target); to && flow == Flow::Call) isCalled_[*to] = true;
      if (const std::vector<int64_t>* targets = targetsOf(i); targets != nullptr && flow == Flow::IndirectBranch)
        for (const int64_t target : *targets) mark(target);
    }
  }

  void addSuccessors(Block& block) const {
    const uint32_t last = block.end - 1;
    const Instruction& i = code_[last];
    const auto add = [&](std::optional<int64_t> at) {
      if (const auto to = numberOf(at)) block.successors.push_back(blockOf_[*to]);
    };
    const Flow flow = i.flow();
    const bool goesOn = flow == Flow::Next || flow == Flow::Call || i.isConditional;
    if (goesOn) add(int64_t{block.end} * kInstructionBytes);
    const bool isTrap = !goesOn && numberOf(i.target) == last;
    if (flow == Flow::Branch && !isTrap) add(i.target);
    if (const std::vector<int64_t>* targets = targetsOf(last); targets != nullptr && flow == Flow::IndirectBranch)
      for (const int64_t target : *targets) add(target);
    std::sort(block.successors.begin(), block.successors.end());
    block.successors.erase(std::unique(block.successors.begin(), block.successors.end()), block.successors.end());
  }

  const std::vector<Instruction>& code_;
  const std::size_t count_;
  std::map<uint32_t, const std::vector<int64_t>*> targets_;  // of indirect branches
  std::vector<bool> isFirst_, isCalled_;                     // in a block; by a call
  std::vector<uint32_t> blockOf_;
};

}  // namespace

std::vector<Block> blocksOf(const std::vector<Instruction>& code, std::span<const IndirectBranch> branches) {
  return Cutter(code, branches).cut();
}

}  // namespace ptxopt::sass
