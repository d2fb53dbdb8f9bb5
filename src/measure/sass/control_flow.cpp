// Blocks that control reaches are put in order, and nested loops are found by nestedLoops() (support/graph.h). Outer
// loops come before inner ones in the result.
#include "sass/control_flow.h"

#include <algorithm>
#include <numeric>

#include "sass/blocks.h"
#include "support/graph.h"

namespace ptxopt::sass {
namespace {

using Numbers = std::vector<uint32_t>;

std::vector<NestedLoop> nestedLoopsOf(const std::vector<Block>& blocks) {
  std::vector<Numbers> predecessors(blocks.size());
  Numbers roots;
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    for (const uint32_t to : blocks[b].successors) predecessors[to].push_back(b);
    if (b == 0 || blocks[b].isCalled) roots.push_back(b);
  }
  const auto successors = [&](uint32_t b) -> const Numbers& { return blocks[b].successors; };
  std::vector<bool> isReached(blocks.size());  // from the beginning of the code, or by a call
  for (const uint32_t b : reachedFrom(roots, blocks.size(), successors)) isReached[b] = true;

  Numbers order(blocks.size());
  std::iota(order.begin(), order.end(), 0u);
  return nestedLoops(order, blocks.size(), successors, [&](uint32_t b, auto isInside) {
    return std::ranges::binary_search(roots, b) || std::ranges::any_of(predecessors[b], [&](uint32_t p) {
             return (isReached[p] || !isReached[b]) && !isInside(p);
           });
  });
}

std::vector<Loop> loopsOf(const std::vector<Block>& blocks) {
  std::vector<NestedLoop> nested = nestedLoopsOf(blocks);
  // Outer ones first; `place` says where each of the others comes to.
  Numbers byDepth(nested.size()), place(nested.size());
  std::iota(byDepth.begin(), byDepth.end(), 0u);
  std::ranges::stable_sort(byDepth, {}, [&](uint32_t l) { return nested[l].depth; });
  for (uint32_t l = 0; l < byDepth.size(); ++l) place[byDepth[l]] = l;
  std::vector<Loop> loops;
  for (const uint32_t l : byDepth) {
    NestedLoop& found = nested[l];
    Loop& loop = loops.emplace_back();
    loop.header = found.header;
    loop.depth = found.depth;
    loop.isIrreducible = found.isIrreducible;
    if (found.parent != NestedLoop::kNone) {
      loop.parent = place[found.parent];
      loops[loop.parent].isInnermost = false;
    }
    for (const uint32_t b : found.nodes) loop.instructions += blocks[b].size();
    loop.blocks = std::move(found.nodes);
  }
  return loops;
}

}  // namespace

ControlFlow::ControlFlow(const std::vector<Instruction>& code, std::span<const IndirectBranch> branches)
    : blocks_(blocksOf(code, branches)), loops_(loopsOf(blocks_)) {}

}  // namespace ptxopt::sass
