// The order of steps: a depth-first search from the virtual root, semidominators by path compression, immediate
// dominators by walking up to them, and entry and exit times for constant queries. All work is by depth-first number.
#include "analysis/dataflow/dominators.h"

#include <algorithm>
#include <utility>

namespace ptxopt {

namespace {

constexpr uint32_t kNone = UINT32_MAX;

// The graph as the algorithm walks it: forward or backward.
class Graph {
 public:
  Graph(const Cfg& cfg, DominatorTree::Direction direction)
      : cfg_(cfg), forward_(direction == DominatorTree::Direction::Dominators), isRoot_(cfg.size()) {}

  void addRoot(BlockId b) { isRoot_[b.value] = true; }
  bool isRoot(uint32_t node) const { return isRoot_[node]; }
  // Unreachable blocks may be predecessors of reachable ones; they stay outside.
  bool isReachable(uint32_t node) const { return cfg_[BlockId(node)].reachable; }
  std::span<const BlockId> after(uint32_t node) const {
    return forward_ ? cfg_.successors(BlockId(node)) : cfg_.predecessors(BlockId(node));
  }
  std::span<const BlockId> before(uint32_t node) const {
    return forward_ ? cfg_.predecessors(BlockId(node)) : cfg_.successors(BlockId(node));
  }

 private:
  const Cfg& cfg_;
  bool forward_;
  std::vector<bool> isRoot_;
};

// Depth-first numbers: `vertex` by number, `number` and the tree's parent by node.
struct Search {
  std::vector<uint32_t> vertex, number, parent;

  explicit Search(std::size_t nodes) : number(nodes, kNone), parent(nodes, kNone) {}

  void from(const Graph& g, uint32_t start, uint32_t above) {
    if (number[start] != kNone) return;
    std::vector<std::pair<uint32_t, std::size_t>> stack;
    const auto visit = [&](uint32_t node, uint32_t by) {
      number[node] = static_cast<uint32_t>(vertex.size());
      parent[node] = by;
      vertex.push_back(node);
      stack.push_back({node, 0});
    };
    visit(start, above);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      const auto after = g.after(node);
      if (next == after.size()) {
        stack.pop_back();
        continue;
      }
      const uint32_t s = after[next++].value;
      if (number[s] == kNone && g.isReachable(s)) visit(s, node);
    }
  }
};

}  // namespace

DominatorTree::DominatorTree(const Cfg& cfg, Direction direction) : parent_(cfg.size()) {
  const bool forward = direction == Direction::Dominators;
  Graph g(cfg, direction);
  const auto blocks = static_cast<uint32_t>(cfg.size());
  Search search(blocks + 1);
  search.number[blocks] = 0;
  search.vertex.push_back(blocks);
  const auto addRoot = [&](BlockId b) {
    g.addRoot(b);
    search.from(g, b.value, blocks);
  };
  if (forward) {
    for (const BlockId b : cfg.roots()) addRoot(b);
  } else {
    for (uint32_t b = 0; b < blocks; ++b)
      if (cfg[BlockId(b)].reachable && cfg[BlockId(b)].leaves) g.addRoot(BlockId(b));
    for (uint32_t b = 0; b < blocks; ++b)
      if (g.isRoot(b)) search.from(g, b, blocks);
    // What is left never leaves.
    for (const BlockId b : cfg.postOrder())
      if (cfg[b].reachable && search.number[b.value] == kNone) addRoot(b);
  }

  // Semidominators, with path compression; all by number.
  const auto count = static_cast<uint32_t>(search.vertex.size());
  std::vector<uint32_t> semi(count), label(count), ancestor(count), idom(count, 0);
  for (uint32_t i = 0; i < count; ++i) {
    semi[i] = label[i] = i;
    ancestor[i] = i == 0 ? 0 : search.number[search.parent[search.vertex[i]]];
  }
  // The label with the least semidominator on the way from v up through vertices numbered `linked` or more.
  std::vector<uint32_t> path;
  const auto evaluate = [&](uint32_t v, uint32_t linked) {
    if (ancestor[v] < linked) return label[v];
    do {
      path.push_back(v);
      v = ancestor[v];
    } while (ancestor[v] >= linked);
    uint32_t above = v, best = label[v];
    do {
      v = path.back();
      path.pop_back();
      ancestor[v] = ancestor[above];
      if (semi[best] < semi[label[v]])
        label[v] = best;
      else
        best = label[v];
      above = v;
    } while (!path.empty());
    return label[v];
  };
  for (uint32_t i = count; i-- > 1;) {
    const uint32_t node = search.vertex[i];
    const uint32_t above = search.number[search.parent[node]];
    uint32_t best = above;
    if (g.isRoot(node)) best = 0;
    for (const BlockId p : g.before(node)) {
      const uint32_t v = search.number[p.value];
      if (v == kNone) continue;
      best = std::min(best, semi[evaluate(v, i + 1)]);
    }
    semi[i] = best;
    idom[i] = above;
  }
  for (uint32_t i = 1; i < count; ++i) {
    while (idom[i] > semi[i]) idom[i] = idom[idom[i]];
    if (idom[i] != 0) parent_[search.vertex[i]] = BlockId(search.vertex[idom[i]]);
  }

  // Entry and exit times of a walk over the tree, children in the order of their numbers; 0 for blocks outside.
  std::vector<uint32_t> firstChild(blocks + 1, kNone), nextSibling(blocks, kNone);
  for (uint32_t i = count; i-- > 1;) {
    uint32_t& first = firstChild[search.vertex[idom[i]]];
    nextSibling[search.vertex[i]] = std::exchange(first, search.vertex[i]);
  }
  enter_.assign(blocks, 0);
  leave_.assign(blocks, 0);
  depth_.assign(blocks, 0);
  uint32_t time = 0;
  for (uint32_t node = firstChild[blocks]; node != kNone || !path.empty();) {
    if (node == kNone) {
      leave_[path.back()] = ++time;
      node = nextSibling[path.back()];
      path.pop_back();
      continue;
    }
    path.push_back(node);
    depth_[node] = static_cast<uint32_t>(path.size());
    enter_[node] = ++time;
    preOrder_.emplace_back(node);
    node = firstChild[node];
  }
}

}  // namespace ptxopt
