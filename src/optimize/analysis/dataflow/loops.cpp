// Loops are found in pre-order of their forest, and the blocks of all loops lie in one array in which each loop is a
// slice with its header first. Queries of exits, latches and entries look at the edges.
#include "analysis/dataflow/loops.h"

#include <algorithm>

#include "analysis/dataflow/natural_loops.h"
#include "support/graph.h"

namespace ptxopt {

namespace {

constexpr uint32_t kNoIndex = UINT32_MAX;

}  // namespace

Loops::Loops(const Cfg& cfg) : loopOf_(cfg.size()), place_(cfg.size(), kNoIndex) {
  if (!findNatural(cfg)) findAll(cfg);

  // Slices. loops_ is in pre-order of the forest: a loop's own blocks, then those of the loops inside.
  for (const LoopId l : loopOf_)
    if (l.valid()) ++loops_[l.value].blockCount;
  std::vector<uint32_t> next;
  uint32_t total = 0;
  for (Loop& loop : loops_) {
    loop.firstBlock = total;
    next.push_back(total + 1);  // the header stands first
    total += loop.blockCount;
  }
  for (std::size_t l = loops_.size(); l-- > 0;)
    if (loops_[l].parent.valid()) loops_[loops_[l].parent.value].blockCount += loops_[l].blockCount;
  blocks_.resize(total);
  for (auto b = cfg.postOrder().rbegin(); b != cfg.postOrder().rend(); ++b) {
    const LoopId l = loopOf_[b->value];
    if (!l.valid()) continue;
    const uint32_t at = loops_[l.value].header == *b ? loops_[l.value].firstBlock : next[l.value]++;
    place_[b->value] = at;
    blocks_[at] = *b;
  }
}

// False when there is an irreducible region.
bool Loops::findNatural(const Cfg& cfg) {
  NaturalLoops finder(cfg);
  if (!finder.find()) return false;
  const auto loopAround = [&](BlockId b) {
    const BlockId header = finder.headerAround(b);
    return header.valid() ? loopOf_[header.value] : LoopId();
  };
  for (const BlockId b : finder.headers()) {
    const LoopId parent = loopAround(b);
    loopOf_[b.value] = LoopId(loops_.size());
    loops_.push_back({.header = b,
                      .parent = parent,
                      .depth = parent.valid() ? loops_[parent.value].depth + 1 : 1,
                      .irreducible = false,
                      .firstBlock = 0,
                      .blockCount = 0});
  }
  for (const BlockId b : finder.blocks())
    if (!finder.isHeader(b) && finder.headerAround(b).valid()) loopOf_[b.value] = loopAround(b);
  return true;
}

// The way for all graphs.
void Loops::findAll(const Cfg& cfg) {
  std::vector<bool> isRoot(cfg.size());
  for (const BlockId b : cfg.roots()) isRoot[b.value] = true;
  std::vector<uint32_t> order;
  for (auto b = cfg.postOrder().rbegin(); b != cfg.postOrder().rend(); ++b)
    if (cfg[*b].reachable) order.push_back(b->value);
  const auto isEntered = [&](uint32_t b, auto isInside) {
    return isRoot[b] || std::ranges::any_of(cfg.predecessors(BlockId(b)),
                                            [&](BlockId p) { return cfg[p].reachable && !isInside(p.value); });
  };
  const auto successors = [&](uint32_t b) { return cfg.successors(BlockId(b)); };
  for (const NestedLoop& found : nestedLoops(order, cfg.size(), successors, isEntered)) {
    for (const uint32_t b : found.nodes) loopOf_[b] = LoopId(loops_.size());
    loops_.push_back({.header = BlockId(found.header),
                      .parent = LoopId(found.parent),
                      .depth = found.depth,
                      .irreducible = found.isIrreducible,
                      .firstBlock = 0,
                      .blockCount = 0});
  }
}

std::vector<BlockId> Loops::latches(const Cfg& cfg, LoopId l) const {
  std::vector<BlockId> result;
  for (const BlockId p : cfg.predecessors(loops_[l.value].header))
    if (contains(l, p)) result.push_back(p);
  return result;
}

BlockId Loops::preheader(const Cfg& cfg, LoopId l) const {
  const BlockId header = loops_[l.value].header;
  const auto& roots = cfg.roots();
  if (loops_[l.value].irreducible || std::find(roots.begin(), roots.end(), header) != roots.end()) return {};
  BlockId only;
  for (const BlockId p : cfg.predecessors(header)) {
    if (contains(l, p)) continue;
    if (only.valid()) return {};
    only = p;
  }
  const bool fits = only.valid() && cfg.successors(only).size() == 1 && cfg[only].reachable;
  return fits ? only : BlockId();
}

BlockId Loops::entry(const Cfg& cfg, LoopId l) const {
  BlockId from;
  for (const BlockId p : cfg.predecessors(loops_[l.value].header)) {
    if (contains(l, p) || !cfg[p].reachable) continue;
    if (from.valid()) return {};
    from = p;
  }
  return from;
}

std::vector<BlockId> Loops::entries(const Cfg& cfg, LoopId l) const {
  std::vector<BlockId> result;
  for (const BlockId b : blocks(l)) {
    const auto before = cfg.predecessors(b);
    const auto& roots = cfg.roots();
    if (std::any_of(before.begin(), before.end(), [&](BlockId p) { return cfg[p].reachable && !contains(l, p); }) ||
        std::find(roots.begin(), roots.end(), b) != roots.end())
      result.push_back(b);
  }
  return result;
}

std::vector<Loops::Exit> Loops::exits(const Cfg& cfg, LoopId l) const {
  std::vector<Exit> result;
  for (const BlockId b : blocks(l)) {
    for (const BlockId s : cfg.successors(b))
      if (!contains(l, s)) result.push_back({b, s});
    if (cfg[b].leaves) result.push_back({b, BlockId()});
  }
  return result;
}

bool operator==(const Loops& a, const Loops& b) {
  const auto same = [](const Loop& x, const Loop& y) {
    return x.header == y.header && x.parent == y.parent && x.irreducible == y.irreducible &&
           x.firstBlock == y.firstBlock && x.blockCount == y.blockCount;
  };
  return a.blocks_ == b.blocks_ &&
         std::equal(a.loops_.begin(), a.loops_.end(), b.loops_.begin(), b.loops_.end(), same);
}

}  // namespace ptxopt
