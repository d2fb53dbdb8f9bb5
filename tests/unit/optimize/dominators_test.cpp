// Dominators and post-dominators against their definition: a block dominates those that nothing reaches without it.
#include "analysis/dataflow/dominators.h"

#include "random_function.h"
#include "random_graph.h"
#include "sampled.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

using Direction = DominatorTree::Direction;
using Flags = std::vector<bool>;

// What can be reached along the edges from `starts` without entering `without`.
template <typename Next>
Flags reach(std::size_t blocks, const std::vector<uint32_t>& starts, uint32_t without, Next next) {
  Flags seen(blocks);
  std::vector<uint32_t> todo;
  const auto enter = [&](uint32_t b) {
    if (b == without || seen[b]) return;
    seen[b] = true;
    todo.push_back(b);
  };
  for (const uint32_t b : starts) enter(b);
  while (!todo.empty()) {
    const uint32_t b = todo.back();
    todo.pop_back();
    for (const BlockId n : next(b)) enter(n.value);
  }
  return seen;
}

// dominates[a][b], from the definition.
std::vector<Flags> reference(const Cfg& cfg, Direction direction) {
  const std::size_t n = cfg.size();
  const auto along = [&](const std::vector<uint32_t>& starts, uint32_t without) {
    return reach(n, starts, without, [&](uint32_t b) {
      std::vector<BlockId> next;
      const auto all =
          direction == Direction::Dominators ? cfg.successors(BlockId(b)) : cfg.predecessors(BlockId(b));
      for (const BlockId x : all)
        if (cfg[x].reachable) next.push_back(x);
      return next;
    });
  };
  std::vector<uint32_t> starts;
  if (direction == Direction::Dominators) {
    for (const BlockId b : cfg.roots()) starts.push_back(b.value);
  } else {
    for (uint32_t b = 0; b < n; ++b)
      if (cfg[BlockId(b)].reachable && cfg[BlockId(b)].leaves) starts.push_back(b);
    for (const BlockId b : cfg.postOrder())
      if (cfg[b].reachable && !along(starts, UINT32_MAX)[b.value]) starts.push_back(b.value);
  }
  const Flags all = along(starts, UINT32_MAX);
  std::vector<Flags> result(n, Flags(n));
  for (uint32_t a = 0; a < n; ++a) {
    const Flags without = along(starts, a);
    for (uint32_t b = 0; b < n; ++b) result[a][b] = all[a] && all[b] && !without[b];
  }
  return result;
}

void check(const Cfg& cfg, Direction direction) {
  CAPTURE(static_cast<int>(direction));
  const DominatorTree tree(cfg, direction);
  const auto expected = reference(cfg, direction);
  const auto n = static_cast<uint32_t>(cfg.size());
  std::size_t members = 0;
  for (uint32_t b = 0; b < n; ++b) {
    const BlockId block(b);
    if (tree.contains(block) != cfg[block].reachable) FAIL("whether block " << b << " is in the tree");
    members += tree.contains(block);
    for (uint32_t a = 0; a < n; ++a)
      if (tree.dominates(BlockId(a), block) != expected[a][b]) FAIL("whether " << a << " dominates " << b);
    if (!tree.contains(block)) {
      if (tree.parent(block).valid()) FAIL("an outsider has a parent: " << b);
      continue;
    }
    // The parent is the one that all other strict dominators dominate.
    uint32_t parent = UINT32_MAX;
    for (uint32_t a = 0; a < n; ++a)
      if (a != b && expected[a][b] && (parent == UINT32_MAX || expected[parent][a])) parent = a;
    if (tree.parent(block).value != parent) FAIL("parent of " << b);
    const uint32_t depth = parent == UINT32_MAX ? 0 : tree.depth(BlockId(parent));
    if (tree.depth(block) != depth + 1) FAIL("depth of " << b);
  }
  // Pre-order: each once, and the subtree of a block in one piece behind it.
  REQUIRE(tree.preOrder().size() == members);
  for (std::size_t i = 0; i < members; ++i) {
    const BlockId b = tree.preOrder()[i];
    std::size_t size = 0;
    for (uint32_t d = 0; d < n; ++d) size += tree.dominates(b, BlockId(d));
    for (std::size_t k = 0; k < members; ++k)
      if (tree.dominates(b, tree.preOrder()[k]) != (k >= i && k < i + size)) FAIL("pre-order at " << b.value);
  }
  CHECK(tree == DominatorTree(cfg, direction));
}

void check(const std::string& text, std::size_t function) {
  CAPTURE(text);
  const Parsed p(text);
  const Cfg cfg(*p, p.function(function));
  check(cfg, Direction::Dominators);
  check(cfg, Direction::PostDominators);
}

// "1<0 2<0 3": each block of the tree with its parent.
std::string describe(const std::string& body, Direction direction) {
  const Parsed p(kHeader + ".entry k()\n{\n.reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n" + body + "}\n");
  const Cfg cfg(*p, p.function());
  check(cfg, direction);
  const DominatorTree tree(cfg, direction);
  std::string text;
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    if (!tree.contains(BlockId(b))) continue;
    text += (text.empty() ? "" : " ") + std::to_string(b);
    if (tree.parent(BlockId(b)).valid()) text += "<" + std::to_string(tree.parent(BlockId(b)).value);
  }
  return text;
}
std::string dominators(const std::string& body) { return describe(body, Direction::Dominators); }
std::string postDominators(const std::string& body) { return describe(body, Direction::PostDominators); }

}  // namespace

TEST_CASE("dominators: as the definition says, on random graphs") {
  for (uint64_t seed = 1; seed <= sampled(2500); ++seed) {
    CAPTURE(seed);
    check(randomGraph(seed), 0);
  }
  for (uint64_t seed = 1; seed <= sampled(60); ++seed) {
    CAPTURE(seed);
    check(randomGraph(seed, 40), 0);
  }
}

TEST_CASE("dominators: as the definition says, on random functions") {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    check(randomFunction(seed, {.mostStatements = 2, .branchPercent = 85}), 1);
  }
}

TEST_CASE("dominators: one block, an empty body") {
  CHECK(dominators("") == "0");
  CHECK(postDominators("") == "0");
  CHECK(dominators("ret;\n") == "0");
  CHECK(postDominators("trap;\n") == "0");
}

TEST_CASE("dominators: fall-through and branches") {
  const std::string diamond = "@%p bra B;\nbar.sync 0;\nbra C;\nB:\nbar.sync 1;\nC:\nret;\n";
  CHECK(dominators(diamond) == "0 1<0 2<0 3<0");
  CHECK(postDominators(diamond) == "0<3 1<3 2<3 3");
  CHECK(dominators("A:\nbar.sync 0;\nB:\nbar.sync 1;\nC:\nret;\n") == "0 1<0 2<1 3<2");
  CHECK(postDominators("A:\nbar.sync 0;\nB:\nbar.sync 1;\nC:\nret;\n") == "0<1 1<2 2<3 3");
}

TEST_CASE("dominators: a guarded ret, exit or trap is one more way out") {
  for (const char* way : {"@%p ret;\n", "@%p exit;\n", "@%p trap;\n"}) {
    CAPTURE(way);
    const std::string body = std::string("bar.sync 0;\n") + way + "bar.sync 1;\nL:\nret;\n";
    CHECK(dominators(body) == "0 1<0 2<1");
    CHECK(postDominators(body) == "0 1<2 2");
  }
  // The end of the text is one, too.
  CHECK(postDominators("@%p ret;\nbar.sync 0;\n") == "0 1");
}

TEST_CASE("dominators: brx.idx") {
  const std::string body =
      "T: .branchtargets A, B, C;\nbrx.idx %r1, T;\nA:\nbra D;\nB:\nbra D;\nC:\nexit;\nD:\nret;\n";
  CHECK(dominators(body) == "0 1<0 2<1 3<1 4<1 5<1");
  CHECK(postDominators(body) == "0<1 1 2<5 3<5 4 5");
}

TEST_CASE("dominators: a label used as a value is a way in") {
  CHECK(dominators("mov.u64 %rd1, B;\nbra B;\nA:\nbar.sync 0;\nB:\nret;\n") == "0 2");
  CHECK(dominators("mov.u64 %rd1, C;\nbra B;\nA:\nbar.sync 0;\nB:\nret;\nC:\nbra B;\n") == "0 2 3");
}

TEST_CASE("dominators: unreachable blocks are in no tree, also where they lead into it") {
  CHECK(dominators("bra B;\nA:\nbar.sync 0;\nB:\nret;\n") == "0 2<0");
  CHECK(postDominators("bra B;\nA:\nbar.sync 0;\nB:\nret;\n") == "0<2 2");
}

TEST_CASE("dominators: endless regions have a root of their own") {
  CHECK(postDominators("L:\nbra L;\n") == "0<1 1");
  CHECK(postDominators("@%p bra L;\nret;\nL:\nbar.sync 0;\nM:\nbra L;\n") == "0 1 2<3 3");
  CHECK(dominators("@%p bra L;\nret;\nL:\nbar.sync 0;\nM:\nbra L;\n") == "0 1<0 2<0 3<2");
}

TEST_CASE("dominators: a hundred thousand blocks in a row") {
  std::string body = ".reg .pred %p;\n";
  constexpr uint32_t kBlocks = 100000;
  for (uint32_t i = 0; i < kBlocks; ++i) body += "@%p bra L;\n";
  const Parsed p(kHeader + ".entry k()\n{\n" + body + "L:\nret;\n}\n");
  const Cfg cfg(*p, p.function());
  REQUIRE(cfg.size() == kBlocks + 1);
  const DominatorTree tree(cfg, Direction::Dominators), post(cfg, Direction::PostDominators);
  CHECK(tree.depth(BlockId(kBlocks - 1)) == kBlocks);
  CHECK(tree.parent(BlockId(kBlocks)) == BlockId(0u));
  CHECK(tree.dominates(BlockId(5u), BlockId(kBlocks - 1)));
  CHECK(post.depth(BlockId(0u)) == 2);
}
