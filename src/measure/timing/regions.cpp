// Each region is walked in postorder, and frequencies flow forward from its entry: each way out of a block gets its
// share, by counts of a run or by the rules of the header. Inner loops are single nodes of the walk.
#include "timing/regions.h"

#include <algorithm>

#include "support/bit_vector.h"

namespace ptxopt::timing {
namespace {

constexpr uint32_t kNone = Region::kNone;
// What dozens of loops in each other come to says no more than this.
constexpr double kMostIterationsOfRegion = 1e15;
// Instructions of a block that ptxas might put under a guard.
constexpr uint32_t kMostGuarded = 64;
constexpr uint32_t kUnseen = UINT32_MAX, kOnPath = UINT32_MAX - 1;

class RegionFinder {
 public:
  RegionFinder(const TimedCode& code, const IterationsOf& iterationsOf, const CountOf& countOf)
      : code_(code),
        blocks_(code.flow.blocks()),
        loops_(code.flow.loops()),
        iterationsOf_(iterationsOf),
        countOf_(countOf),
        loopOf_(blocks_.size(), kNone),
        entries_(loops_.size()),
        isReached_(loops_.size()),
        perRun_(blocks_.size()),
        place_(blocks_.size() + loops_.size(), kUnseen),
        frequency_(place_.size()) {
    for (uint32_t l = 0; l < loops_.size(); ++l)  // inner ones come later
      for (const uint32_t b : loops_[l].blocks) loopOf_[b] = l;
    for (uint32_t b = 0; b < blocks_.size(); ++b)
      for (uint32_t i = blocks_[b].first; i < blocks_[b].end; ++i)  // a call does not end a block
        if (const auto& call = code_.instructions[i]; call.flow() == sass::Flow::Call && call.target)
          calls_.emplace_back(b, *call.target);
  }

  std::vector<Region> find() {
    if (blocks_.empty()) return {};
    add(kNone, nodeOf(0, kNone), 1);
    addLoops();
    for (uint32_t b = 1; b < blocks_.size(); ++b)
      if (blocks_[b].isCalled && loopOf_[b] == kNone) {
        if (const double calls = callsOf(b); calls > 0) add(kNone, b, calls);
        addLoops();
      }
    return std::move(regions_);
  }

 private:
  using Node = uint32_t;  // a block, or after the blocks a loop

  Node nodeOfLoop(uint32_t l) const { return static_cast<Node>(blocks_.size()) + l; }

  // The node of the region of `loop` that holds the block; kNone: it is not in that loop.
  Node nodeOf(uint32_t block, uint32_t loop) const {
    uint32_t l = loopOf_[block];
    if (l == loop) return block;
    while (l != kNone && loops_[l].parent != loop) l = loops_[l].parent;
    return l == kNone ? kNone : nodeOfLoop(l);
  }

  // Without having written anything on the way.
  bool endsThread(uint32_t block) const {
    const sass::Block& b = blocks_[block];
    if (!b.successors.empty() || code_.instructions[b.end - 1].flow() != sass::Flow::Exit) return false;
    const auto writes = [&](const Operation& o) { return o.writes; };
    return std::none_of(code_.operations.begin() + b.first, code_.operations.begin() + b.end, writes);
  }

  std::vector<Node> successorsOf(Node node, uint32_t loop) const {
    std::vector<Node> all, taken;
    const auto addFrom = [&](uint32_t block) {
      for (const uint32_t s : blocks_[block].successors) {
        if (loop != kNone && s == loops_[loop].header) continue;
        const Node to = nodeOf(s, loop);
        if (to == kNone || to == node) continue;
        all.push_back(to);
        if (to >= blocks_.size() || !endsThread(to)) taken.push_back(to);
      }
    };
    if (node < blocks_.size())
      addFrom(node);
    else
      for (const uint32_t b : loops_[node - blocks_.size()].blocks) addFrom(b);
    std::vector<Node>& result = taken.empty() || !partsOf(node, all).empty() ? all : taken;
    std::ranges::sort(result);
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return std::move(result);
  }

  struct Numbered {
    std::vector<Node> postOrder;
    std::vector<std::vector<Node>> successors;  // as in postOrder
  };

  // Numbers what is reached in place_.
  Numbered walk(Node first, uint32_t loop) {
    Numbered result;
    struct Step {
      Node node;
      std::vector<Node> successors;
      std::size_t next = 0;
    };
    std::vector<Step> path;
    const auto enter = [&](Node n) {
      place_[n] = kOnPath;
      path.push_back({n, successorsOf(n, loop)});
    };
    enter(first);
    while (!path.empty()) {
      Step& top = path.back();
      if (top.next < top.successors.size()) {
        const Node to = top.successors[top.next++];
        if (place_[to] == kUnseen) enter(to);
        continue;
      }
      place_[top.node] = static_cast<uint32_t>(result.postOrder.size());
      result.postOrder.push_back(top.node);
      result.successors.push_back(std::move(top.successors));
      path.pop_back();
    }
    return result;
  }

  // By place in postorder: the loops that control may come to from there on, a bit each; those of more than 64 share bits.
  std::vector<uint64_t> loopsAhead(const Numbered& order) const {
    std::vector<uint64_t> ahead(order.postOrder.size());
    for (std::size_t i = 0; i < ahead.size(); ++i) {
      const Node n = order.postOrder[i];
      if (n >= blocks_.size()) ahead[i] = uint64_t{1} << (n - blocks_.size()) % 64;
      for (const Node to : order.successors[i])
        if (place_[to] < i) ahead[i] |= ahead[place_[to]];
    }
    return ahead;
  }

  // A way from which fewer loops can be come to than from another skips these; loops that are never entered do not count.
  std::vector<Node> withoutSkips(const std::vector<Node>& ways, const std::vector<uint64_t>& ahead,
                                 uint64_t never) const {
    std::vector<Node> kept;
    for (const Node way : ways) {
      const uint64_t mine = ahead[place_[way]] & ~never;
      const auto hasMore = [&](Node other) {
        const uint64_t its = ahead[place_[other]] & ~never;
        return its != mine && (its & mine) == mine;
      };
      if (std::ranges::none_of(ways, hasMore)) kept.push_back(way);
    }
    return kept;
  }

  // For a walk: the bits that loopsAhead() has of loops alone that are never entered.
  uint64_t neverEntered(const Numbered& order) const {
    uint64_t never = 0, others = 0;
    for (const Node n : order.postOrder) {
      if (n < blocks_.size()) continue;
      const auto l = n - static_cast<Node>(blocks_.size());
      (iterationsOf_(l, 1).all > 0 ? others : never) |= uint64_t{1} << l % 64;
    }
    return never & ~others;
  }

  // For a walk, by place in postorder: whether a way from there comes to no loop that is never entered.
  std::vector<bool> avoidsNever(const Numbered& order, uint32_t loop) const {
    std::vector<bool> avoids(order.postOrder.size());
    // From the region, from the thread, or to the next iteration; a guarded exit has a way on as well.
    const auto mayEnd = [&](uint32_t block) {
      return code_.instructions[blocks_[block].end - 1].flow() == sass::Flow::Exit ||
             std::ranges::any_of(blocks_[block].successors, [&](uint32_t way) {
               const Node to = loop != kNone && way == loops_[loop].header ? kNone : nodeOf(way, loop);
               return to == kNone || place_[to] == kUnseen;
             });
    };
    for (std::size_t i = 0; i < avoids.size(); ++i) {
      const Node n = order.postOrder[i];
      const bool isLoop = n >= blocks_.size();
      const auto l = static_cast<uint32_t>(isLoop ? n - blocks_.size() : 0);
      if (isLoop && iterationsOf_(l, 1).all <= 0) continue;
      // Where a loop without a way out continues is not known: a call may end the thread.
      avoids[i] = order.successors[i].empty() ||
                  std::ranges::any_of(order.successors[i],
                                      [&](Node to) { return place_[to] >= i || avoids[place_[to]]; }) ||
                  (isLoop ? std::ranges::any_of(loops_[l].blocks, mayEnd) : mayEnd(n));
    }
    return avoids;
  }

  // A way that cannot but come to a loop that is never entered is not taken while there is another.
  std::vector<Node> withoutNever(const std::vector<Node>& ways, const std::vector<bool>& avoids) const {
    std::vector<Node> kept;
    for (const Node way : ways)
      if (avoids[place_[way]]) kept.push_back(way);
    return kept.empty() ? ways : kept;
  }

  // Whether ptxas could as well have put the block under a guard: few instructions, no call, and only one way on.
  bool mayBeGuarded(Node n, const Numbered& order) const {
    if (n >= blocks_.size() || order.successors[place_[n]].size() != 1) return false;
    const sass::Block& b = blocks_[n];
    const auto isCall = [](const sass::Instruction& i) { return i.flow() == sass::Flow::Call; };
    return b.end - b.first <= kMostGuarded &&
           std::none_of(code_.instructions.begin() + b.first, code_.instructions.begin() + b.end, isCall);
  }

  // A way that skips such a block is not taken: guarded instructions are executed, too.
  void takeGuarded(std::vector<Node>& ways, const Numbered& order) const {
    if (ways.size() != 2) return;
    for (const auto& [n, skip] : {std::pair(ways[0], ways[1]), std::pair(ways[1], ways[0])})
      if (place_[n] < order.postOrder.size() && mayBeGuarded(n, order) && order.successors[place_[n]][0] == skip) {
        ways = {n};
        return;
      }
  }

  // How often each of these ways is taken, as counts of a run say; none: they do not tell.
  std::vector<double> partsOf(Node n, const std::vector<Node>& ways) const {
    if (!countOf_ || n >= blocks_.size()) return {};
    const auto own = countOf_(n);
    if (!own || own->count <= 0) return {};
    std::vector<double> parts;
    for (const Node way : ways) {
      const auto count = way < blocks_.size() ? countOf_(way) : std::nullopt;
      if (!count || count->of == own->of) return {};
      parts.push_back(std::min(1.0, count->count / own->count));
    }
    return parts;
  }

  // For each way, with how often it is taken.
  std::vector<std::pair<Node, double>> taken(std::size_t place, const Numbered& order,
                                             const std::vector<uint64_t>& ahead, uint64_t never,
                                             const std::vector<bool>& avoids) const {
    std::vector<Node> ways = order.successors[place];
    std::vector<double> parts = partsOf(order.postOrder[place], ways);
    if (parts.empty()) {
      ways = withoutNever(ways, avoids);
      ways = withoutSkips(ways, ahead, never);
      takeGuarded(ways, order);
      parts.assign(ways.size(), 1 / static_cast<double>(std::max<std::size_t>(1, ways.size())));
    }
    std::vector<std::pair<Node, double>> result;
    for (std::size_t w = 0; w < ways.size(); ++w) result.emplace_back(ways[w], parts[w]);
    return result;
  }

  void add(uint32_t loop, Node first, double iterations) {
    const Numbered order = walk(first, loop);
    const std::vector<uint64_t> ahead = loopsAhead(order);
    const uint64_t never = neverEntered(order);
    const std::vector<bool> avoids = avoidsNever(order, loop);
    frequency_[first] = 1;
    for (std::size_t i = order.postOrder.size(); i-- != 0;) {
      const double frequency = frequency_[order.postOrder[i]];
      // Where control does not go forward (irreducible code), what goes back is lost. Where ways meet that some threads take
      // each, control comes once.
      for (const auto& [to, part] : taken(i, order, ahead, never, avoids))
        if (place_[to] < i) frequency_[to] = std::min(1.0, frequency_[to] + frequency * part);
    }
    Region region{loop, {}, iterations};
    for (const Node n : order.postOrder) {
      if (n >= blocks_.size()) {
        entries_[n - blocks_.size()] += frequency_[n] * iterations;
        isReached_.set(n - blocks_.size());
      } else {
        region.visits.push_back({n, frequency_[n]});
        perRun_[n] += frequency_[n] * iterations;
      }
      place_[n] = kUnseen;  // both serve the next region, too
      frequency_[n] = 0;
    }
    std::ranges::sort(region.visits, {}, &Visit::block);
    regions_.push_back(std::move(region));
  }

  // Those that control enters and that have no region yet.
  void addLoops() {
    for (uint32_t l = 0; l < loops_.size(); ++l) {
      if (!isReached_.test(l)) continue;
      const double entries = entries_[l];
      const Iterations iterations = iterationsOf_(l, entries);
      add(l, loops_[l].header, std::min(iterations.all, kMostIterationsOfRegion));
      regions_.back().from = iterations.from;
      entries_[l] = 0;
      isReached_.reset(l);
    }
  }

  // By the code whose regions are found, in a run.
  double callsOf(uint32_t block) const {
    const int64_t at = int64_t{blocks_[block].first} * sass::kInstructionBytes;
    double calls = 0;
    for (const auto& [caller, target] : calls_)
      if (target == at) calls += perRun_[caller];
    return calls;
  }

  const TimedCode& code_;
  const std::vector<sass::Block>& blocks_;
  const std::vector<sass::Loop>& loops_;
  const IterationsOf& iterationsOf_;
  const CountOf& countOf_;
  std::vector<uint32_t> loopOf_;
  std::vector<double> entries_;  // of loops without a region
  BitVector isReached_;          // these
  std::vector<double> perRun_;   // of blocks
  std::vector<uint32_t> place_;  // of nodes, in postorder
  std::vector<double> frequency_;
  std::vector<std::pair<uint32_t, int64_t>> calls_;  // block and target of each
  std::vector<Region> regions_;
};

}  // namespace

std::string_view nameOf(IterationsFrom from) {
  switch (from) {
    case IterationsFrom::Assumed: return "assumed";
    case IterationsFrom::Given: return "given";
    case IterationsFrom::Known: return "known";
    case IterationsFrom::Profiled: break;
  }
  return "profiled";
}

std::vector<Region> regionsOf(const TimedCode& code, const IterationsOf& iterationsOf, const CountOf& countOf) {
  return RegionFinder(code, iterationsOf, countOf).find();
}

}  // namespace ptxopt::timing
