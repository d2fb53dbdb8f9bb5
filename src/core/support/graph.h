// Walks over directed graphs whose nodes are numbers below `size`: what is reached, strongly connected components, nested loops.
//
// A graph is a function: of a node, the nodes that it leads to, as a range of numbers or ids. `reachedFrom` asks once for each
// node, the others more often, of ranges that stay.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "support/id.h"

namespace ptxopt {

constexpr uint32_t nodeNumber(uint32_t node) { return node; }
template <typename Tag>
constexpr uint32_t nodeNumber(Id<Tag> node) {
  return node.value;
}

// The roots and all that they lead to, nearer ones first. Linear.
template <typename Successors>
std::vector<uint32_t> reachedFrom(const std::vector<uint32_t>& roots, std::size_t size, Successors&& successors) {
  std::vector<bool> isReached(size);
  std::vector<uint32_t> all;
  const auto reach = [&](uint32_t node) {
    if (!isReached[node]) all.push_back(node);
    isReached[node] = true;
  };
  for (const uint32_t root : roots) reach(root);
  for (std::size_t next = 0; next < all.size(); ++next)
    for (const auto to : successors(all[next])) reach(nodeNumber(to));
  return all;
}

// Strongly connected components (Tarjan 1972). Linear in the nodes asked about and their edges, but for `size` once.
template <typename Successors>
class Components {
 public:
  Components(std::size_t size, Successors successors) : successors_(successors), number_(size), low_(size) {}

  // Calls found(component, isCyclic) for each component of the graph of these nodes and the edges between them, after all
  // components that it leads to. isOne(node): whether a node is one of these.
  template <typename IsOne, typename Found>
  void find(std::span<const uint32_t> nodes, IsOne isOne, Found found) {
    for (const uint32_t n : nodes) number_[n] = 0;
    count_ = 0;
    for (const uint32_t n : nodes)
      if (number_[n] == 0) visit(n, isOne, found);
  }

 private:
  static constexpr uint32_t kDone = UINT32_MAX;
  struct Step {
    uint32_t node;
    std::size_t next;  // of its successors
  };

  void enter(uint32_t node) {
    number_[node] = low_[node] = ++count_;
    open_.push_back(node);
    path_.push_back({node, 0});
  }

  template <typename IsOne, typename Found>
  void visit(uint32_t root, IsOne isOne, Found found) {
    enter(root);
    while (!path_.empty()) {
      const uint32_t node = path_.back().node;
      const auto& after = successors_(node);
      if (path_.back().next == after.size()) {
        leave(node, found);
        continue;
      }
      const uint32_t to = nodeNumber(after[path_.back().next++]);
      if (!isOne(to) || number_[to] == kDone) continue;
      if (number_[to] == 0)
        enter(to);
      else
        low_[node] = std::min(low_[node], number_[to]);
    }
  }

  template <typename Found>
  void leave(uint32_t node, Found found) {
    path_.pop_back();
    if (!path_.empty()) low_[path_.back().node] = std::min(low_[path_.back().node], low_[node]);
    if (low_[node] != number_[node]) return;
    const auto first = std::find(open_.rbegin(), open_.rend(), node).base() - 1;
    const std::span<const uint32_t> component(first, open_.end());
    for (const uint32_t n : component) number_[n] = kDone;
    const auto leadsToItself = [&](auto to) { return nodeNumber(to) == node; };
    found(component, component.size() > 1 || std::ranges::any_of(successors_(node), leadsToItself));
    open_.erase(first, open_.end());
  }

  Successors successors_;
  std::vector<uint32_t> number_, low_;  // from 1, in the order of the visits; 0: not met
  std::vector<uint32_t> open_;
  std::vector<Step> path_;
  uint32_t count_ = 0;
};

// A maximal set of nodes that lead to each other, and, inside it, what remains so when its entries are taken out.
struct NestedLoop {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t parent = kNone, depth = 1;
  std::vector<uint32_t> nodes;  // those of loops in it included
  uint32_t header = 0;          // the first entry; the first node where there is no entry
  bool isIrreducible = false;   // several entries
};

// The loops among `order`, in pre-order of their nesting; those side by side by their first nodes. "First" is by that order, in
// which their nodes stand. isEntered(node, isInside): whether control enters a loop there, with isInside(n) for its nodes.
// Steensgaard, "Sequentializing program dependence graphs for irreducible programs", 1993: edges times nesting depth.
template <typename Successors, typename IsEntered>
std::vector<NestedLoop> nestedLoops(std::span<const uint32_t> order, std::size_t size, Successors successors,
                                    IsEntered isEntered) {
  constexpr uint32_t kNone = NestedLoop::kNone;
  std::vector<uint32_t> region(size, kNone);  // the loop in which loops are still to be found
  std::vector<uint32_t> component(size);
  Components<Successors> components(size, successors);
  std::vector<NestedLoop> loops, work;
  const auto isIn = [&](uint32_t of) { return [&region, of](uint32_t n) { return region[n] == of; }; };
  const auto addInside = [&](std::span<const uint32_t> nodes, uint32_t of, uint32_t parent, uint32_t depth) {
    std::vector<uint32_t> inside;
    std::ranges::copy_if(nodes, std::back_inserter(inside), isIn(of));
    uint32_t count = 0;
    components.find(inside, isIn(of), [&](std::span<const uint32_t> found, bool isCyclic) {
      for (const uint32_t n : found) component[n] = isCyclic ? count : kNone;
      count += isCyclic;
    });
    std::vector<NestedLoop> found;
    std::vector<uint32_t> place(count, kNone);
    for (const uint32_t n : inside) {
      if (component[n] == kNone) continue;
      uint32_t& at = place[component[n]];
      if (at == kNone) {
        at = static_cast<uint32_t>(found.size());
        found.emplace_back().parent = parent;
        found.back().depth = depth;
      }
      found[at].nodes.push_back(n);
    }
    std::move(found.rbegin(), found.rend(), std::back_inserter(work));
  };
  for (const uint32_t n : order) region[n] = 0;
  addInside(order, 0, kNone, 1);
  while (!work.empty()) {
    NestedLoop& loop = loops.emplace_back(std::move(work.back()));
    work.pop_back();
    const auto mine = static_cast<uint32_t>(loops.size());
    for (const uint32_t n : loop.nodes) region[n] = mine;
    std::vector<uint32_t> entries;
    std::ranges::copy_if(loop.nodes, std::back_inserter(entries),
                         [&](uint32_t n) { return isEntered(n, isIn(mine)); });
    loop.isIrreducible = entries.size() > 1;
    if (entries.empty()) entries.push_back(loop.nodes.front());
    loop.header = entries.front();
    for (const uint32_t n : entries) region[n] = kNone;
    addInside(loop.nodes, mine, mine - 1, loop.depth + 1);
  }
  return loops;
}

}  // namespace ptxopt
