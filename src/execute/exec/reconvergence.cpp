// The ends of the function are found first: its returns, or its exits where it has none. Post-dominators are then
// computed to a fixed point over the post-order of the reversed graph, from one virtual end.
#include "exec/reconvergence.h"

namespace ptxopt::exec {

Reconvergence::Reconvergence(const Cfg& cfg) : meet_(cfg.size()), isMeeting_(cfg.size()) {
  const auto blocks = static_cast<uint32_t>(cfg.size());
  const uint32_t end = blocks;  // the virtual block after all returns
  // A guarded ret or exit only takes lanes away: it is an end only where there is no other.
  std::vector<bool> isEnd(blocks);
  bool found = false;
  const auto mark = [&](auto&& ends) {
    for (uint32_t b = 0; b < blocks && !found; ++b) isEnd[b] = ends(BlockId(b));
    for (uint32_t b = 0; b < blocks; ++b) found = found || isEnd[b];
  };
  mark([&](BlockId b) { return cfg[b].returns && cfg.successors(b).empty(); });
  mark([&](BlockId b) { return cfg[b].leaves && cfg.successors(b).empty(); });
  mark([&](BlockId b) { return cfg[b].leaves; });

  // Post-order of the reversed graph from the virtual end.
  std::vector<uint32_t> order, number(blocks + 1, UINT32_MAX);
  std::vector<std::pair<uint32_t, std::size_t>> stack;
  std::vector<bool> seen(blocks);
  for (uint32_t root = 0; root < blocks; ++root) {
    if (!isEnd[root] || seen[root]) continue;
    seen[root] = true;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      auto& [b, next] = stack.back();
      const auto before = cfg.predecessors(BlockId(b));
      if (next == before.size()) {
        number[b] = static_cast<uint32_t>(order.size());
        order.push_back(b);
        stack.pop_back();
        continue;
      }
      const uint32_t p = before[next++].value;
      if (seen[p]) continue;
      seen[p] = true;
      stack.push_back({p, 0});
    }
  }
  number[end] = static_cast<uint32_t>(order.size());

  std::vector<uint32_t> parent(blocks + 1, UINT32_MAX);
  parent[end] = end;
  const auto intersect = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (number[a] < number[b]) a = parent[a];
      while (number[b] < number[a]) b = parent[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = order.size(); i-- > 0;) {
      const uint32_t b = order[i];
      uint32_t best = isEnd[b] ? end : UINT32_MAX;
      for (const BlockId s : cfg.successors(BlockId(b))) {
        if (parent[s.value] == UINT32_MAX) continue;
        best = best == UINT32_MAX ? s.value : intersect(best, s.value);
      }
      if (best != UINT32_MAX && best != parent[b]) {
        parent[b] = best;
        changed = true;
      }
    }
  }
  for (uint32_t b = 0; b < blocks; ++b) {
    const auto after = cfg.successors(BlockId(b));
    if (after.size() < 2 || parent[b] == UINT32_MAX || parent[b] == end) continue;
    meet_[b] = BlockId(parent[b]);
    isMeeting_[parent[b]] = true;
  }
}

}  // namespace ptxopt::exec
