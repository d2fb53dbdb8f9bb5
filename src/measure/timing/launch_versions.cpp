#include "timing/launch_versions.h"

#include <algorithm>

namespace ptxopt::timing {
namespace {

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

std::optional<LaunchVersions> launchVersionsOf(const TimedCode& code) {
  const std::vector<sass::Block>& blocks = code.flow.blocks();
  if (blocks.empty()) return std::nullopt;
  LaunchVersions found;
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

}  // namespace ptxopt::timing
