// Loops already found are shortened to their outermost header by union-find with path halving. A predecessor outside of
// the header's subtree shows an irreducible region and ends the search.
#include "analysis/dataflow/natural_loops.h"

namespace ptxopt {
namespace {

constexpr uint32_t kUnnumbered = UINT32_MAX;

}  // namespace

NaturalLoops::NaturalLoops(const Cfg& cfg)
    : cfg_(cfg),
      number_(cfg.size(), kUnnumbered),
      lastBelow_(cfg.size()),
      isRoot_(cfg.size()),
      outer_(cfg.size()),
      header_(cfg.size()),
      isHeader_(cfg.size()) {}

bool NaturalLoops::find() {
  number();
  for (uint32_t b = 0; b < outer_.size(); ++b) outer_[b] = BlockId(b);
  for (std::size_t n = vertex_.size(); n-- > 0;)
    if (!findLoop(vertex_[n])) return false;
  return true;
}

// From all roots.
void NaturalLoops::number() {
  std::vector<std::pair<BlockId, std::size_t>> path;
  const auto visit = [&](BlockId b) {
    if (number_[b.value] != kUnnumbered) return;
    number_[b.value] = static_cast<uint32_t>(vertex_.size());
    vertex_.push_back(b);
    path.push_back({b, 0});
  };
  for (const BlockId root : cfg_.roots()) {
    isRoot_[root.value] = true;
    visit(root);
    while (!path.empty()) {
      const BlockId b = path.back().first;
      const auto after = cfg_.successors(b);
      if (path.back().second < after.size()) {
        visit(after[path.back().second++]);
      } else {
        lastBelow_[b.value] = static_cast<uint32_t>(vertex_.size() - 1);
        path.pop_back();
      }
    }
  }
}

// The outermost loop found so far around a block, by its header. Makes the paths to it shorter.
BlockId NaturalLoops::outermost(BlockId b) {
  while (outer_[b.value] != b) b = outer_[b.value] = outer_[outer_[b.value].value];
  return b;
}

// The loop with header `w`, if it is one. False when control enters it elsewhere, too.
bool NaturalLoops::findLoop(BlockId w) {
  body_.clear();
  const auto add = [&](BlockId p) {
    const BlockId b = outermost(p);
    if (b == w || header_[b.value] == w) return;
    header_[b.value] = w;
    body_.push_back(b);
  };
  for (const BlockId p : cfg_.predecessors(w)) {
    if (!cfg_[p].reachable || !isBelow(p, w)) continue;
    isHeader_[w.value] = true;
    add(p);
  }
  for (std::size_t k = 0; k < body_.size(); ++k) {
    const BlockId b = body_[k];
    if (isRoot_[b.value]) return false;
    for (const BlockId p : cfg_.predecessors(b)) {
      if (!cfg_[p].reachable || isBelow(p, b)) continue;
      if (!isBelow(outermost(p), w)) return false;
      add(p);
    }
  }
  for (const BlockId b : body_) outer_[b.value] = w;
  return true;
}

std::vector<BlockId> NaturalLoops::headers() const {
  std::vector<BlockId> firstChild(cfg_.size()), nextSibling(cfg_.size()), work, all;
  for (const BlockId b : cfg_.postOrder()) {
    if (!isHeader_[b.value]) continue;
    if (!header_[b.value].valid()) {
      work.push_back(b);
      continue;
    }
    BlockId& first = firstChild[header_[b.value].value];
    nextSibling[b.value] = first;
    first = b;
  }
  // In `work` the next one stands last; children and siblings are pushed one at a time.
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    all.push_back(b);
    if (nextSibling[b.value].valid()) work.push_back(nextSibling[b.value]);
    if (firstChild[b.value].valid()) work.push_back(firstChild[b.value]);
  }
  return all;
}

}  // namespace ptxopt
