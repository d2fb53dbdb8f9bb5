#include "sass/control_flow.h"

#include <algorithm>

#include "sass/blocks.h"

namespace ptxopt::sass {
namespace {

using Set = std::vector<uint32_t>;  // blocks, ascending

// The strongly connected components of the blocks that are in a region, each ascending.
class Components {
 public:
  Components(const std::vector<Block>& blocks, const std::vector<uint32_t>& regionOf)
      : blocks_(blocks), regionOf_(regionOf), order_(blocks.size()), low_(blocks.size()) {}

  // Of the blocks of `set`, which are those of `region`; only those with a cycle, in the order of addresses.
  std::vector<Set> find(const Set& set, uint32_t region) {
    region_ = region;
    found_.clear();
    next_ = 1;
    for (const uint32_t b : set) order_[b] = 0;
    for (const uint32_t b : set)
      if (order_[b] == 0) visit(b);
    std::sort(found_.begin(), found_.end());
    return std::move(found_);
  }

 private:
  static constexpr uint32_t kDone = UINT32_MAX;
  struct Frame {
    uint32_t block, successor;
  };

  void enter(uint32_t b) {
    order_[b] = low_[b] = next_++;
    open_.push_back(b);
    frames_.push_back({b, 0});
  }

  void visit(uint32_t root) {
    enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const uint32_t b = frame.block;
      const std::vector<uint32_t>& successors = blocks_[b].successors;
      if (frame.successor == successors.size()) {
        leave(b);
        continue;
      }
      const uint32_t to = successors[frame.successor++];
      if (regionOf_[to] != region_ || order_[to] == kDone) continue;
      if (order_[to] == 0)
        enter(to);
      else
        low_[b] = std::min(low_[b], order_[to]);
    }
  }

  void leave(uint32_t b) {
    frames_.pop_back();
    if (!frames_.empty()) low_[frames_.back().block] = std::min(low_[frames_.back().block], low_[b]);
    if (low_[b] != order_[b]) return;
    Set component;
    do {
      component.push_back(open_.back());
      order_[open_.back()] = kDone;
      open_.pop_back();
    } while (component.back() != b);
    const std::vector<uint32_t>& successors = blocks_[b].successors;
    if (component.size() == 1 && !std::binary_search(successors.begin(), successors.end(), b)) return;
    std::sort(component.begin(), component.end());
    found_.push_back(std::move(component));
  }

  const std::vector<Block>& blocks_;
  const std::vector<uint32_t>& regionOf_;
  std::vector<uint32_t> order_, low_, open_;  // order_: 0 for what was not met
  std::vector<Frame> frames_;
  std::vector<Set> found_;
  uint32_t region_ = 0, next_ = 1;
};

class LoopFinder {
 public:
  explicit LoopFinder(const std::vector<Block>& blocks)
      : blocks_(blocks), regionOf_(blocks.size(), 0), predecessors_(blocks.size()) {
    for (uint32_t b = 0; b < blocks.size(); ++b)
      for (const uint32_t to : blocks[b].successors) predecessors_[to].push_back(b);
    markReached();
  }

  std::vector<Loop> find() {
    Set all(blocks_.size());
    for (uint32_t b = 0; b < all.size(); ++b) all[b] = b;
    Components components(blocks_, regionOf_);
    addLoops(components.find(all, 0), Loop::kNone);
    // Loops are found breadth first: the loops in one lie after all that are as deep as it.
    for (uint32_t l = 0; l < loops_.size(); ++l) {
      const Set inside = withoutEntries(l);
      addLoops(components.find(inside, l + 1), l);
    }
    return std::move(loops_);
  }

 private:
  bool isRoot(uint32_t b) const { return b == 0 || blocks_[b].isCalled; }

  void markReached() {
    isReached_.assign(blocks_.size(), false);
    Set work;
    const auto reach = [&](uint32_t b) {
      if (!isReached_[b]) work.push_back(b);
      isReached_[b] = true;
    };
    for (uint32_t b = 0; b < blocks_.size(); ++b)
      if (isRoot(b)) reach(b);
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      for (const uint32_t to : blocks_[b].successors) reach(to);
    }
  }

  void addLoops(std::vector<Set> sets, uint32_t parent) {
    for (Set& set : sets) {
      Loop loop;
      loop.parent = parent;
      if (parent != Loop::kNone) {
        loop.depth = loops_[parent].depth + 1;
        loops_[parent].isInnermost = false;
      }
      for (const uint32_t b : set) loop.instructions += blocks_[b].size();
      loop.blocks = std::move(set);
      loops_.push_back(std::move(loop));
    }
  }

  // Sets the header of a loop, and makes what remains of it a region.
  Set withoutEntries(uint32_t l) {
    Loop& loop = loops_[l];
    Set entries, inside;
    for (const uint32_t b : loop.blocks) {
      const bool isEntry =
          isRoot(b) || std::any_of(predecessors_[b].begin(), predecessors_[b].end(), [&](uint32_t p) {
            return (isReached_[p] || !isReached_[b]) &&
                   !std::binary_search(loop.blocks.begin(), loop.blocks.end(), p);
          });
      (isEntry ? entries : inside).push_back(b);
    }
    if (entries.empty()) {
      entries.push_back(inside.front());
      inside.erase(inside.begin());
    }
    loop.header = entries.front();
    loop.isIrreducible = entries.size() > 1;
    for (const uint32_t b : entries) regionOf_[b] = UINT32_MAX;
    for (const uint32_t b : inside) regionOf_[b] = l + 1;
    return inside;
  }

  const std::vector<Block>& blocks_;
  std::vector<uint32_t> regionOf_;
  std::vector<std::vector<uint32_t>> predecessors_;
  std::vector<bool> isReached_;  // from the beginning of the code, or by a call
  std::vector<Loop> loops_;
};

}  // namespace

ControlFlow::ControlFlow(const std::vector<Instruction>& code, std::span<const IndirectBranch> branches)
    : blocks_(blocksOf(code, branches)), loops_(LoopFinder(blocks_).find()) {}

}  // namespace ptxopt::sass
