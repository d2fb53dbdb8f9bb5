// Sequences of copies and the shortest ones: against running both, and against a search through all sequences.
#include "passes/coalescing/parallel_copy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <random>
#include <set>

#include "sampled.h"

using namespace ptxopt;
using testing::sampled;

namespace {

std::vector<uint32_t> run(const std::vector<Move>& moves, std::vector<uint32_t> held) {
  for (const Move& m : moves) held[m.to] = held[m.from];
  return held;
}

CopySequence randomSequence(std::mt19937_64& random, std::size_t mostRegisters, std::size_t mostMoves,
                            bool distinct) {
  CopySequence s;
  const std::size_t n = 1 + random() % mostRegisters;
  s.held.resize(n);
  std::iota(s.held.begin(), s.held.end(), 0u);
  if (!distinct)
    for (uint32_t& h : s.held) h = static_cast<uint32_t>(random() % n);
  // Often into what was copied from just before, as swaps and rotations do.
  for (std::size_t k = 1 + random() % mostMoves; k > 0; --k) {
    const bool follows = !s.moves.empty() && random() % 2 == 0;
    const auto to = follows ? s.moves.back().from : static_cast<uint32_t>(random() % n);
    s.moves.push_back({to, static_cast<uint32_t>(random() % n)});
  }
  const uint64_t rarity = 1 + random() % 4;
  for (std::size_t r = 0; r < n; ++r) s.isNeeded.push_back(random() % rarity == 0 || random() % 2 == 0);
  return s;
}

// The fewest copies into registers that the sequence writes after which the needed ones hold what they should; what
// it does not write must not change.
std::size_t fewest(const CopySequence& s) {
  const std::vector<uint32_t> goal = run(s.moves, s.held);
  std::set<uint32_t> written;
  for (const Move& m : s.moves) written.insert(m.to);
  const auto isGoal = [&](const std::vector<uint32_t>& held) {
    for (uint32_t r = 0; r < held.size(); ++r)
      if ((s.isNeeded[r] || written.count(r) == 0) && held[r] != goal[r]) return false;
    return true;
  };
  std::map<std::vector<uint32_t>, std::size_t> distance{{s.held, 0}};
  std::queue<std::vector<uint32_t>> work;
  work.push(s.held);
  while (!work.empty()) {
    const std::vector<uint32_t> held = work.front();
    work.pop();
    const std::size_t d = distance[held];
    if (isGoal(held)) return d;
    for (const uint32_t to : written)
      for (uint32_t from = 0; from < held.size(); ++from) {
        std::vector<uint32_t> next = held;
        next[to] = held[from];
        if (distance.emplace(next, d + 1).second) work.push(next);
      }
  }
  return SIZE_MAX;
}

void checkSame(const CopySequence& s, const ShortCopies& result) {
  const std::vector<uint32_t> before = run(s.moves, s.held), after = run(result.moves, s.held);
  std::vector<bool> isWritten(s.held.size());
  for (const Move& m : s.moves) isWritten[m.to] = true;
  for (const Move& m : result.moves) CHECK(isWritten[m.to]);
  for (std::size_t r = 0; r < s.held.size(); ++r)
    if (s.isNeeded[r] || !isWritten[r]) CHECK(after[r] == before[r]);
}

CopySequence of(std::size_t registers, std::vector<Move> moves, std::vector<uint32_t> unneeded = {}) {
  CopySequence s;
  s.moves = std::move(moves);
  s.held.resize(registers);
  std::iota(s.held.begin(), s.held.end(), 0u);
  s.isNeeded.assign(registers, true);
  for (const uint32_t r : unneeded) s.isNeeded[r] = false;
  return s;
}

}  // namespace

TEST_CASE("parallel copies: the same is left as by the sequence") {
  std::mt19937_64 random(1);
  std::size_t shorter = 0;
  for (int k = 0; k < 40000; ++k) {
    const CopySequence s = randomSequence(random, 9, 14, k % 3 != 0);
    const ShortCopies result = shortestCopies(s);
    checkSame(s, result);
    shorter += result.moves.size() < s.moves.size();
  }
  CHECK(shorter > 20000);
}

TEST_CASE("parallel copies: as short as can be where the registers hold different values") {
  std::mt19937_64 random(2);
  std::size_t cycles = 0;
  for (std::size_t k = 0; k < sampled(6000); ++k) {
    const CopySequence s = randomSequence(random, 5, 9, true);
    const ShortCopies result = shortestCopies(s);
    REQUIRE(result.moves.size() == fewest(s));
    cycles += result.swaps + result.rotations;
  }
  CHECK(cycles > sampled(100));
}

TEST_CASE("parallel copies: never longer when some registers hold the same") {
  std::mt19937_64 random(3);
  for (int k = 0; k < 20000; ++k) {
    const CopySequence s = randomSequence(random, 7, 12, false);
    CHECK(shortestCopies(s).moves.size() <= s.moves.size());
  }
}

TEST_CASE("parallel copies: permutations take a copy more for each cycle") {
  std::mt19937_64 random(4);
  for (int k = 0; k < 3000; ++k) {
    const auto n = static_cast<uint32_t>(2 + random() % 7);
    std::vector<uint32_t> source(n);
    std::iota(source.begin(), source.end(), 0u);
    std::shuffle(source.begin(), source.end(), random);
    // Through a temporary each: n is not needed, nor are those behind it.
    CopySequence s = of(2 * n, {});
    for (uint32_t r = 0; r < n; ++r) s.moves.push_back({n + r, r});
    for (uint32_t r = 0; r < n; ++r) s.moves.push_back({r, n + source[r]});
    for (uint32_t r = n; r < 2 * n; ++r) s.isNeeded[r] = false;
    std::size_t moved = 0, swaps = 0, rotations = 0;
    std::vector<bool> isSeen(n);
    for (uint32_t r = 0; r < n; ++r) {
      std::size_t length = 0;
      for (uint32_t c = r; !isSeen[c]; c = source[c]) isSeen[c] = true, ++length;
      if (length > 1) moved += length;
      swaps += length == 2;
      rotations += length > 2;
    }
    const ShortCopies result = shortestCopies(s);
    checkSame(s, result);
    CHECK(result.moves.size() == moved + swaps + rotations);
    CHECK(result.swaps == swaps);
    CHECK(result.rotations == rotations);
  }
}

TEST_CASE("parallel copies: what a sequence comes to") {
  using Moves = std::vector<Move>;
  // t = a; a = b; b = t
  CHECK(shortestCopies(of(3, {{2, 0}, {0, 1}, {1, 2}}, {2})).swaps == 1);
  CHECK(shortestCopies(of(3, {{2, 0}, {0, 1}, {1, 2}}, {2})).moves.size() == 3);
  // The temporary is needed: it holds one of the values, and the swap is still one.
  CHECK(shortestCopies(of(3, {{2, 0}, {0, 1}, {1, 2}})).moves == Moves{{2, 0}, {0, 1}, {1, 2}});
  CHECK(shortestCopies(of(3, {{2, 0}, {0, 1}, {1, 2}})).swaps == 1);
  // t = a; b = t
  CHECK(shortestCopies(of(3, {{2, 0}, {1, 2}}, {2})).moves == Moves{{1, 0}});
  // There and back.
  CHECK(shortestCopies(of(2, {{1, 0}, {0, 1}})).moves == Moves{{1, 0}});
  CHECK(shortestCopies(of(1, {{0, 0}})).moves.empty());
  // Written twice.
  CHECK(shortestCopies(of(3, {{2, 0}, {2, 1}})).moves == Moves{{2, 1}});
  // The only free register for the swap of 0 and 1 gets a value of its own in the end.
  CHECK(shortestCopies(of(4, {{3, 0}, {3, 0}, {0, 1}, {1, 3}, {3, 2}})).moves.size() == 4);
  // What is there already is not written.
  CopySequence s = of(2, {{1, 0}});
  s.held = {7, 7};
  CHECK(shortestCopies(s).moves.empty());
}

TEST_CASE("parallel copies: long chains and rotations") {
  constexpr uint32_t kLength = 100000;
  CopySequence s;
  s.held.resize(kLength);
  std::iota(s.held.begin(), s.held.end(), 0u);
  s.isNeeded.assign(kLength, true);
  s.isNeeded.back() = false;
  s.moves.push_back({kLength - 1, 0});
  for (uint32_t r = 0; r + 2 < kLength; ++r) s.moves.push_back({r, r + 1});
  s.moves.push_back({kLength - 2, kLength - 1});
  const ShortCopies result = shortestCopies(s);
  CHECK(result.moves.size() == kLength);
  CHECK(result.rotations == 1);
  checkSame(s, result);
}
