#include "analysis/dataflow/loops.h"

#include <algorithm>

#include "analysis/dataflow/natural_loops.h"

namespace ptxopt {

namespace {

constexpr uint32_t kNoIndex = UINT32_MAX;

// Finds the loops among a set of blocks that is marked with `region`, and marks what is inside them anew.
class ComponentFinder {
 public:
  ComponentFinder(const Cfg& cfg, std::vector<uint32_t>& region)
      : cfg_(cfg),
        region_(region),
        number_(cfg.size(), kNoIndex),
        low_(cfg.size()),
        component_(cfg.size(), kNoIndex),
        onStack_(cfg.size()) {}

  // The cyclic components of the blocks of `region`, which come in reverse post-order, as do those of each component, and
  // the components by their first.
  std::vector<std::vector<BlockId>> components(std::span<const BlockId> blocks, uint32_t region) {
    for (const BlockId b : blocks) {
      if (region_[b.value] != region) continue;
      number_[b.value] = component_[b.value] = kNoIndex;
    }
    components_ = 0;
    for (const BlockId b : blocks)
      if (region_[b.value] == region && number_[b.value] == kNoIndex) search(b, region);
    std::vector<std::vector<BlockId>> found;
    std::vector<uint32_t> place(components_, kNoIndex);
    for (const BlockId b : blocks) {
      if (region_[b.value] != region || component_[b.value] == kNoIndex) continue;
      uint32_t& at = place[component_[b.value]];
      if (at == kNoIndex) {
        at = static_cast<uint32_t>(found.size());
        found.emplace_back();
      }
      found[at].push_back(b);
    }
    return found;
  }

 private:
  void search(BlockId start, uint32_t region) {
    std::vector<std::pair<BlockId, std::size_t>> path;
    const auto visit = [&](BlockId b) {
      number_[b.value] = low_[b.value] = next_++;
      stack_.push_back(b);
      onStack_[b.value] = true;
      path.push_back({b, 0});
    };
    visit(start);
    while (!path.empty()) {
      const BlockId b = path.back().first;
      const auto after = cfg_.successors(b);
      if (path.back().second < after.size()) {
        const BlockId s = after[path.back().second++];
        if (region_[s.value] != region) continue;
        if (number_[s.value] == kNoIndex)
          visit(s);
        else if (onStack_[s.value])
          low_[b.value] = std::min(low_[b.value], number_[s.value]);
        continue;
      }
      path.pop_back();
      if (!path.empty()) {
        const BlockId above = path.back().first;
        low_[above.value] = std::min(low_[above.value], low_[b.value]);
      }
      if (low_[b.value] != number_[b.value]) continue;
      const bool isCyclic = stack_.back() != b || std::count(after.begin(), after.end(), b) != 0;
      BlockId member;
      do {
        member = stack_.back();
        stack_.pop_back();
        onStack_[member.value] = false;
        if (isCyclic) component_[member.value] = components_;
      } while (member != b);
      components_ += isCyclic;
    }
  }

  const Cfg& cfg_;
  std::vector<uint32_t>& region_;
  std::vector<uint32_t> number_, low_;
  std::vector<uint32_t> component_;  // the cyclic one that a block is in
  std::vector<bool> onStack_;
  std::vector<BlockId> stack_;
  uint32_t next_ = 0, components_ = 0;
};

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
  // Blocks carry the number of the region in which loops are still to be found.
  std::vector<uint32_t> region(cfg.size(), kNoIndex);
  std::vector<bool> isRoot(cfg.size());
  for (const BlockId b : cfg.roots()) isRoot[b.value] = true;
  std::vector<BlockId> all;
  for (auto b = cfg.postOrder().rbegin(); b != cfg.postOrder().rend(); ++b)
    if (cfg[*b].reachable) {
      region[b->value] = 0;
      all.push_back(*b);
    }
  ComponentFinder finder(cfg, region);
  uint32_t regions = 1;

  struct Work {
    std::vector<BlockId> blocks;  // of a component
    LoopId parent;
  };
  std::vector<Work> work;
  const auto push = [&](std::span<const BlockId> blocks, uint32_t in, LoopId parent) {
    auto found = finder.components(blocks, in);
    for (std::size_t i = found.size(); i-- > 0;) work.push_back({std::move(found[i]), parent});
  };
  push(all, 0, LoopId());
  while (!work.empty()) {
    const Work w = std::move(work.back());
    work.pop_back();
    const uint32_t mine = regions++;
    for (const BlockId b : w.blocks) region[b.value] = mine;
    std::vector<BlockId> entries;
    for (const BlockId b : w.blocks) {
      const auto before = cfg.predecessors(b);
      const bool entered = isRoot[b.value] || std::any_of(before.begin(), before.end(), [&](BlockId p) {
                             return cfg[p].reachable && region[p.value] != mine;
                           });
      if (entered) entries.push_back(b);
    }
    Loop loop;
    loop.header = entries.front();
    loop.parent = w.parent;
    loop.depth = w.parent.valid() ? loops_[w.parent.value].depth + 1 : 1;
    loop.irreducible = entries.size() > 1;
    const LoopId id(loops_.size());
    loops_.push_back(loop);
    for (const BlockId b : w.blocks) loopOf_[b.value] = id;
    for (const BlockId b : entries) region[b.value] = kNoIndex;
    push(w.blocks, mine, id);
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
