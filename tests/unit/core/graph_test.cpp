// Reachability and strongly connected components against their definitions, on random graphs. Nested loops are compared in
// tests/unit/optimize/loops_test.cpp and by the recorded loops of machine code.
#include <doctest/doctest.h>

#include <random>
#include <span>
#include <vector>

#include "support/graph.h"

using namespace ptxopt;

namespace {

using Graph = std::vector<std::vector<uint32_t>>;

Graph randomGraph(std::mt19937& random) {
  Graph graph(1 + random() % 9);
  for (auto& after : graph)
    for (std::size_t edges = random() % 3; edges > 0; --edges)
      after.push_back(static_cast<uint32_t>(random() % graph.size()));
  return graph;
}

// [a][b]: whether a way of at least one edge leads from a to b.
std::vector<std::vector<bool>> waysOf(const Graph& graph, const std::vector<bool>& isOne) {
  std::vector<std::vector<bool>> ways(graph.size(), std::vector<bool>(graph.size()));
  for (uint32_t a = 0; a < graph.size(); ++a)
    for (const uint32_t b : graph[a]) ways[a][b] = isOne[a] && isOne[b];
  for (uint32_t k = 0; k < graph.size(); ++k)
    for (uint32_t a = 0; a < graph.size(); ++a)
      for (uint32_t b = 0; b < graph.size(); ++b)
        if (ways[a][k] && ways[k][b]) ways[a][b] = true;
  return ways;
}

}  // namespace

TEST_CASE("graph: what is reached, each once and nearer ones first") {
  const Graph graph{{2}, {0, 3}, {0}, {1, 4}, {}, {5}};
  const auto after = [&](uint32_t n) { return graph[n]; };
  CHECK(reachedFrom({1}, graph.size(), after) == std::vector<uint32_t>{1, 0, 3, 2, 4});
  CHECK(reachedFrom({5, 4, 5}, graph.size(), after) == std::vector<uint32_t>{5, 4});
  CHECK(reachedFrom({}, graph.size(), after).empty());
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const Graph g = randomGraph(random);
    const auto ways = waysOf(g, std::vector<bool>(g.size(), true));
    std::vector<bool> reached(g.size());
    for (const uint32_t n : reachedFrom({0}, g.size(), [&](uint32_t n) { return g[n]; })) reached[n] = true;
    for (uint32_t n = 0; n < g.size(); ++n) REQUIRE(reached[n] == (n == 0 || ways[0][n]));
  }
}

TEST_CASE("graph: components of a part come after those that they lead to") {
  std::mt19937 random(2);
  for (int i = 0; i < 500; ++i) {
    const Graph g = randomGraph(random);
    std::vector<bool> isOne(g.size());
    std::vector<uint32_t> nodes;
    for (uint32_t n = 0; n < g.size(); ++n)
      if (isOne[n] = random() % 4 != 0; isOne[n]) nodes.push_back(n);
    const auto ways = waysOf(g, isOne);
    std::vector<uint32_t> place(g.size());  // of the component that a node is in, from 1
    uint32_t count = 0;
    const auto note = [&](std::span<const uint32_t> component, bool isCyclic) {
      ++count;
      for (const uint32_t n : component) {
        REQUIRE(place[n] == 0);
        place[n] = count;
        REQUIRE(isCyclic == ways[n][n]);
      }
    };
    Components components(g.size(), [&](uint32_t n) -> const std::vector<uint32_t>& { return g[n]; });
    components.find(
        nodes, [&](uint32_t n) { return isOne[n]; }, note);
    for (uint32_t a = 0; a < g.size(); ++a) {
      REQUIRE((place[a] != 0) == isOne[a]);
      for (uint32_t b = 0; b < g.size(); ++b) {
        if (a == b || !isOne[a] || !isOne[b]) continue;
        REQUIRE((place[a] == place[b]) == (ways[a][b] && ways[b][a]));
        if (ways[a][b]) REQUIRE(place[a] >= place[b]);
      }
    }
  }
}
