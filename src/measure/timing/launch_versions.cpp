// Control is followed from the entry to the first branch, and both ways are compared by reachability. Bodies are found
// by repeating this from each way, with the lines deciding which body a way belongs to.
#include "timing/launch_versions.h"

#include <algorithm>
#include <map>
#include <set>

namespace ptxopt::timing {
namespace {

constexpr std::size_t kMostOthers =
    10;  // instructions that are shared, or whose lines say something else: one in this number

std::vector<bool> reachedFrom(const TimedCode& code, uint32_t first) {
  std::vector<bool> isReached(code.flow.blocks().size());
  std::vector<uint32_t> left{first};
  isReached[first] = true;
  while (!left.empty()) {
    const uint32_t block = left.back();
    left.pop_back();
    for (const uint32_t s : code.flow.blocks()[block].successors)
      if (!isReached[s]) {
        isReached[s] = true;
        left.push_back(s);
      }
  }
  return isReached;
}

bool writes(const TimedCode& code, uint32_t block) {
  const sass::Block& b = code.flow.blocks()[block];
  return std::any_of(code.operations.begin() + b.first, code.operations.begin() + b.end,
                     [](const Operation& o) { return o.writes; });
}

}  // namespace

CountOf LaunchVersions::only(std::size_t body) const {
  return
      [branch = branch, taken = first[body], other = first[1 - body]](uint32_t block) -> std::optional<BlockCount> {
        if (block == branch) return BlockCount{0, 1};
        if (block == taken) return BlockCount{1, 1};
        if (block == other) return BlockCount{2, 0};
        return std::nullopt;
      };
}

std::optional<LaunchVersions> launchVersionsOf(const TimedCode& code, uint32_t from) {
  const std::vector<sass::Block>& blocks = code.flow.blocks();
  if (blocks.empty()) return std::nullopt;
  LaunchVersions found{.branch = from, .first = {}, .isInBody = {}};
  for (std::size_t steps = 0; blocks[found.branch].successors.size() == 1; ++steps) {
    if (steps == blocks.size()) return std::nullopt;
    found.branch = blocks[found.branch].successors.front();
  }
  const std::vector<uint32_t>& ways = blocks[found.branch].successors;
  if (ways.size() != 2) return std::nullopt;
  for (std::size_t way = 0; way < 2; ++way) {
    found.first[way] = ways[way];
    found.isInBody[way] = reachedFrom(code, ways[way]);
  }
  std::array<bool, 2> hasWrites{};
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    const bool isInBoth = found.isInBody[0][b] && found.isInBody[1][b];
    if (isInBoth && (!blocks[b].successors.empty() || writes(code, b))) return std::nullopt;
    for (std::size_t way = 0; way < 2; ++way)
      hasWrites[way] = hasWrites[way] || (found.isInBody[way][b] && writes(code, b));
  }
  if (!hasWrites[0] || !hasWrites[1]) return std::nullopt;
  return found;
}

CountOf LaunchBodies::weighed(const std::vector<double>& shares) const {
  std::vector<std::optional<BlockCount>> counts(isInBody.empty() ? 0 : isInBody.front().size());
  for (const LaunchVersions& test : tests) {
    double all = 0;
    for (std::size_t way = 0; way < 2; ++way) {
      double share = 0;
      for (std::size_t k = 0; k < first.size(); ++k)
        if (test.isInBody[way][first[k]]) share += shares[k];
      counts[test.first[way]] = BlockCount{test.first[way], share};
      all += share;
    }
    counts[test.branch] = BlockCount{test.branch, all};
  }
  return [counts = std::move(counts)](uint32_t block) { return counts[block]; };
}

std::optional<LaunchBodies> launchBodiesOf(const TimedCode& code, std::size_t bodies,
                                           const std::function<std::optional<uint32_t>(uint32_t)>& bodyOf) {
  LaunchBodies found;
  std::vector<uint32_t> left{0};  // where code begins that is of one body or of several
  while (!left.empty()) {
    const uint32_t from = left.back();
    left.pop_back();
    std::vector<bool> isReached = reachedFrom(code, from);
    std::map<uint32_t, std::size_t> instructions;  // by body
    std::size_t all = 0;
    for (uint32_t b = 0; b < isReached.size(); ++b)
      for (uint32_t i = code.flow.blocks()[b].first; isReached[b] && i < code.flow.blocks()[b].end; ++i)
        if (const auto body = bodyOf(i)) {
          ++instructions[*body];
          ++all;
        }
    if (instructions.empty()) return std::nullopt;
    const auto most = std::ranges::max_element(instructions, {}, [](const auto& body) { return body.second; });
    if (most->second * kMostOthers > all * (kMostOthers - 1)) {
      found.first.push_back(from);
      found.isInBody.push_back(std::move(isReached));
      found.of.push_back(most->first);
      continue;
    }
    auto test = launchVersionsOf(code, from);
    if (!test) return std::nullopt;
    left.insert(left.end(), test->first.begin(), test->first.end());
    found.tests.push_back(std::move(*test));
  }
  if (found.of.size() != bodies || std::set(found.of.begin(), found.of.end()).size() != bodies) return std::nullopt;
  return found;
}

}  // namespace ptxopt::timing
