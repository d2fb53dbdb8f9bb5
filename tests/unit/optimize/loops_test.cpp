// Loops against their definition (strongly connected sets of blocks, again without their entries), and against
// natural loops (back edges to dominators) where the graph is reducible.
#include "analysis/dataflow/loops.h"

#include <functional>
#include <map>
#include <set>

#include "analysis/dataflow/dominators.h"
#include "random_function.h"
#include "random_graph.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

using Set = std::set<uint32_t>;

struct NaiveLoop {
  Set blocks, entries;
  uint32_t header = 0, depth = 0;
  int parent = -1;
};

class Reference {
 public:
  explicit Reference(const Cfg& cfg) : cfg_(cfg) {
    Set all;
    for (uint32_t b = 0; b < cfg.size(); ++b)
      if (cfg[BlockId(b)].reachable) all.insert(b);
    find(all, -1);
  }
  std::vector<NaiveLoop> loops;

 private:
  Set from(uint32_t start, const Set& inside) const {
    Set seen;
    std::vector<uint32_t> todo{start};
    while (!todo.empty()) {
      const uint32_t b = todo.back();
      todo.pop_back();
      for (const BlockId s : cfg_.successors(BlockId(b)))
        if (inside.count(s.value) != 0 && seen.insert(s.value).second) todo.push_back(s.value);
    }
    return seen;  // by one edge or more
  }

  void find(const Set& region, int parent) {
    std::map<uint32_t, Set> reached;
    for (const uint32_t b : region) reached[b] = from(b, region);
    Set done;
    for (const uint32_t b : region) {
      if (done.count(b) != 0 || reached[b].count(b) == 0) continue;
      NaiveLoop loop;
      for (const uint32_t x : reached[b])
        if (reached[x].count(b) != 0) loop.blocks.insert(x);
      done.insert(loop.blocks.begin(), loop.blocks.end());
      for (const uint32_t x : loop.blocks) {
        bool entered = std::count(cfg_.roots().begin(), cfg_.roots().end(), BlockId(x)) != 0;
        for (const BlockId p : cfg_.predecessors(BlockId(x)))
          entered = entered || (cfg_[p].reachable && loop.blocks.count(p.value) == 0);
        if (entered) loop.entries.insert(x);
      }
      REQUIRE_FALSE(loop.entries.empty());
      for (const BlockId x : cfg_.postOrder())
        if (loop.entries.count(x.value) != 0) loop.header = x.value;  // the last in post-order
      loop.parent = parent;
      loop.depth = parent < 0 ? 1 : loops[static_cast<std::size_t>(parent)].depth + 1;
      Set inner = loop.blocks;
      for (const uint32_t e : loop.entries) inner.erase(e);
      const int id = static_cast<int>(loops.size());
      loops.push_back(std::move(loop));
      find(inner, id);
    }
  }

  const Cfg& cfg_;
};

Set toSet(std::span<const BlockId> blocks) {
  Set result;
  for (const BlockId b : blocks) result.insert(b.value);
  REQUIRE(result.size() == blocks.size());
  return result;
}

// Only for graphs without irreducible regions.
void checkNatural(const Cfg& cfg, const DominatorTree& tree, const Loops& loops) {
  std::map<uint32_t, Set> natural;
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    if (!cfg[BlockId(b)].reachable) continue;
    for (const BlockId h : cfg.successors(BlockId(b))) {
      if (!tree.dominates(h, BlockId(b))) continue;
      Set& blocks = natural[h.value];
      blocks.insert(h.value);
      std::vector<uint32_t> todo{b};
      while (!todo.empty()) {
        const uint32_t x = todo.back();
        todo.pop_back();
        if (!blocks.insert(x).second) continue;
        for (const BlockId p : cfg.predecessors(BlockId(x)))
          if (cfg[p].reachable) todo.push_back(p.value);
      }
    }
  }
  REQUIRE(natural.size() == loops.size());
  for (uint32_t l = 0; l < loops.size(); ++l)
    if (natural[loops[LoopId(l)].header.value] != toSet(loops.blocks(LoopId(l))))
      FAIL("not the natural loop " << l);
}

bool isReducible(const Cfg& cfg, const DominatorTree& tree) {
  // Without the edges to dominators nothing must be cyclic.
  std::vector<int> state(cfg.size());
  std::function<bool(BlockId)> acyclic = [&](BlockId b) {
    if (state[b.value] != 0) return state[b.value] == 2;
    state[b.value] = 1;
    for (const BlockId s : cfg.successors(b))
      if (!tree.dominates(s, b) && !acyclic(s)) return false;
    state[b.value] = 2;
    return true;
  };
  for (const BlockId root : cfg.roots())
    if (!acyclic(root)) return false;
  return true;
}

std::size_t irreducibles = 0, deepest = 0;

void check(const std::string& text, std::size_t function) {
  CAPTURE(text);
  const Parsed p(text);
  const Cfg cfg(*p, p.function(function));
  const Loops loops(cfg);
  const Reference reference(cfg);
  REQUIRE(loops.size() == reference.loops.size());
  std::map<Set, uint32_t> byBlocks;
  for (uint32_t l = 0; l < loops.size(); ++l) byBlocks[toSet(loops.blocks(LoopId(l)))] = l;
  REQUIRE(byBlocks.size() == loops.size());
  bool irreducible = false;
  std::vector<uint32_t> innermost(cfg.size(), UINT32_MAX);
  for (const NaiveLoop& expected : reference.loops) {
    const auto found = byBlocks.find(expected.blocks);
    if (found == byBlocks.end()) FAIL("no loop with the blocks of the one at " << expected.header);
    const LoopId id(found->second);
    const Loop& loop = loops[id];
    CAPTURE(expected.header);
    for (const uint32_t b : expected.blocks) innermost[b] = id.value;  // inner ones come later
    CHECK(loop.header.value == expected.header);
    CHECK(loops.blocks(id).front() == loop.header);
    CHECK(loop.depth == expected.depth);
    CHECK(loop.irreducible == (expected.entries.size() > 1));
    irreducible = irreducible || loop.irreducible;
    irreducibles += loop.irreducible;
    deepest = std::max<std::size_t>(deepest, loop.depth);
    CHECK(loop.parent.valid() == (expected.parent >= 0));
    if (expected.parent >= 0) {
      CHECK(loop.parent < id);
      CHECK(toSet(loops.blocks(loop.parent)) == reference.loops[static_cast<std::size_t>(expected.parent)].blocks);
    }
    for (uint32_t b = 0; b < cfg.size(); ++b)
      if (loops.contains(id, BlockId(b)) != (expected.blocks.count(b) != 0)) FAIL("contains " << b);
    CHECK(toSet(loops.entries(cfg, id)) == expected.entries);
    // Latches, the preheader and exits, edge by edge.
    Set latches, outside;
    std::set<std::pair<uint32_t, uint32_t>> exits;
    for (uint32_t b = 0; b < cfg.size(); ++b) {
      const bool inside = expected.blocks.count(b) != 0;
      for (const BlockId s : cfg.successors(BlockId(b))) {
        if (s.value == expected.header) (inside ? latches : outside).insert(b);
        if (inside && expected.blocks.count(s.value) == 0) exits.insert({b, s.value});
      }
      if (inside && cfg[BlockId(b)].leaves) exits.insert({b, UINT32_MAX});
    }
    CHECK(toSet(loops.latches(cfg, id)) == latches);
    BlockId preheader;
    if (expected.entries.size() == 1 && outside.size() == 1 &&
        std::count(cfg.roots().begin(), cfg.roots().end(), loop.header) == 0) {
      const BlockId only(*outside.begin());
      if (cfg[only].reachable && cfg.successors(only).size() == 1) preheader = only;
    }
    CHECK(loops.preheader(cfg, id) == preheader);
    std::set<std::pair<uint32_t, uint32_t>> found_;
    for (const Loops::Exit& e : loops.exits(cfg, id)) found_.insert({e.from.value, e.to.value});
    CHECK(found_ == exits);
  }
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    if (loops.of(BlockId(b)).value != innermost[b]) FAIL("innermost loop of " << b);
    if (loops.depth(BlockId(b)) != (innermost[b] == UINT32_MAX ? 0 : loops[LoopId(innermost[b])].depth))
      FAIL("depth");
  }
  const DominatorTree tree(cfg, DominatorTree::Direction::Dominators);
  CHECK(isReducible(cfg, tree) != irreducible);
  if (!irreducible) checkNatural(cfg, tree, loops);
  CHECK(loops == Loops(cfg));
}

// One loop a line: its blocks, header first, then what there is of parent, preheader, latches and exits.
std::string describe(const std::string& body) {
  const Parsed p(kHeader + ".entry k()\n{\n.reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n" + body + "}\n");
  const Cfg cfg(*p, p.function());
  const Loops loops(cfg);
  std::string text;
  for (uint32_t l = 0; l < loops.size(); ++l) {
    const LoopId id(l);
    for (const BlockId b : loops.blocks(id)) text += std::to_string(b.value) + " ";
    if (loops[id].irreducible) text += "irreducible ";
    if (loops[id].parent.valid()) text += "in " + std::to_string(loops[id].parent.value) + " ";
    if (const BlockId b = loops.preheader(cfg, id); b.valid()) text += "preheader " + std::to_string(b.value) + " ";
    text += "latches";
    for (const BlockId b : loops.latches(cfg, id)) text += " " + std::to_string(b.value);
    text += " exits";
    for (const Loops::Exit& e : loops.exits(cfg, id))
      text += " " + std::to_string(e.from.value) + ">" + (e.to.valid() ? std::to_string(e.to.value) : "out");
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("loops: as the definition says, on random graphs and functions") {
  irreducibles = deepest = 0;
  for (uint64_t seed = 1; seed <= 2500; ++seed) {
    CAPTURE(seed);
    check(randomGraph(seed), 0);
  }
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    check(randomGraph(seed, 40), 0);
  }
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    check(randomFunction(seed, {.mostStatements = 2, .branchPercent = 85}), 1);
  }
  CHECK(irreducibles > 300);
  CHECK(deepest > 4);
}

TEST_CASE("loops: a loop of one block") {
  CHECK(describe("bar.sync 0;\nL:\n@%p bra L;\nret;\n") == "1 preheader 0 latches 1 exits 1>2\n");
  CHECK(describe("L:\nbra L;\n") == "1 preheader 0 latches 1 exits\n");
}

TEST_CASE("loops: without a preheader") {
  // Entered from two blocks, and from one that also goes elsewhere.
  CHECK(describe("@%p bra L;\n@%p bra L;\nL:\n@%p bra L;\nret;\n") == "2 latches 2 exits 2>3\n");
  CHECK(describe("@%p bra E;\nL:\n@%p bra L;\nE:\nret;\n") == "1 latches 1 exits 1>2\n");
}

TEST_CASE("loops: nested, with guarded ways out") {
  CHECK(describe("O:\nbar.sync 0;\nI:\n@%p ret;\n@%p bra I;\n@%p bra O;\nexit;\n") ==
        "1 4 2 3 preheader 0 latches 4 exits 4>5 2>out\n"
        "2 3 in 0 preheader 1 latches 3 exits 2>out 3>4\n");
}

TEST_CASE("loops: two latches are one loop") {
  CHECK(describe("L:\n@%p bra L;\n@%p bra L;\nret;\n") == "1 2 preheader 0 latches 1 2 exits 2>3\n");
}

TEST_CASE("loops: brx.idx") {
  CHECK(describe("T: .branchtargets A, B;\nA:\nbrx.idx %r1, T;\nB:\nret;\n") ==
        "2 preheader 1 latches 2 exits 2>3\n");
}

TEST_CASE("loops: irreducible regions") {
  CHECK(describe("@%p bra B;\nA:\nbar.sync 0;\nB:\n@%p bra A;\nret;\n") == "2 1 irreducible latches 1 exits 2>3\n");
  // A label used as a value is an entry, too.
  CHECK(describe("mov.u64 %rd1, B;\nA:\nbar.sync 0;\nB:\n@%p bra A;\nret;\n") ==
        "1 2 irreducible latches 2 exits 2>3\n");
}

TEST_CASE("loops: unreachable ones are none") { CHECK(describe("ret;\nL:\n@%p bra L;\nret;\n") == ""); }

TEST_CASE("loops: thousands, nested in each other") {
  constexpr uint32_t kDepth = 2000;
  std::string body = ".reg .pred %p;\n";
  for (uint32_t i = 0; i < kDepth; ++i) body += "L" + std::to_string(i) + ": bar.sync 0;\n";
  for (uint32_t i = kDepth; i-- > 0;) body += "@%p bra L" + std::to_string(i) + ";\n";
  const Parsed p(kHeader + ".entry k()\n{\n" + body + "ret;\n}\n");
  const Cfg cfg(*p, p.function());
  const Loops loops(cfg);
  REQUIRE(loops.size() == kDepth);
  for (uint32_t l = 0; l < kDepth; ++l) {
    const Loop& loop = loops[LoopId(l)];
    CHECK(loop.depth == l + 1);
    CHECK(loop.blockCount == 2 * (kDepth - l) - 1);
    CHECK(loop.header == BlockId(l + 1));
  }
}
