#include <fmt/format.h>

#include "dump/dumps.h"

namespace ptxopt::dump {
namespace {

// Deeper than this the number in brackets has to do: a tree that is a list would print as a square.
constexpr uint32_t kDeepest = 40;

void appendTree(std::string& out, FunctionView& view, const DominatorTree& tree, std::string_view what) {
  out += fmt::format("{}: {}\n", view.name(), what);
  for (const BlockId b : tree.preOrder()) {
    const uint32_t depth = tree.depth(b);
    out.append(2 * std::min(depth, kDeepest), ' ');
    out += fmt::format("[{}] {}\n", depth, view.blockTitle(b));
  }
  for (uint32_t b = 0; b < view.analyses.cfg().size(); ++b)
    if (!tree.contains(BlockId(b))) out += fmt::format("  not in the tree: {}\n", view.blockTitle(BlockId(b)));
}

}  // namespace

void appendDominators(std::string& out, FunctionView& view) {
  appendTree(out, view, view.analyses.dominators(), "dominators");
  appendTree(out, view, view.analyses.postDominators(), "post-dominators");
}

}  // namespace ptxopt::dump
