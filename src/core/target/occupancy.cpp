// The number of blocks is the least that one of five resources allows. Steps and cliffs are found by trying every
// register count up or down from the kernel's.
#include "target/occupancy.h"

#include <algorithm>

namespace ptxopt::target {
namespace {

constexpr uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

uint32_t blocksByRegisters(const Limits&, const BlockNeeds& block, uint32_t warps) {
  if (block.registersPerThread > Limits::kMostRegistersPerThread) return 0;
  if (block.registersPerThread == 0) return Occupancy::kUnlimited;
  const auto ofWarp =
      static_cast<uint32_t>(roundUp(block.registersPerThread * Limits::kThreadsPerWarp, Limits::kRegisterUnit));
  if (ofWarp * roundUp(warps, Limits::kParts) > Limits::kRegisters) return 0;
  return Limits::kRegisters / Limits::kParts / ofWarp * Limits::kParts / warps;
}

uint32_t blocksBySharedMemory(const Limits& a, const BlockNeeds& block) {
  if (block.sharedBytes > a.mostSharedBytesPerBlock()) return 0;
  const uint64_t taken = roundUp(block.sharedBytes + a.reservedSharedBytes, a.sharedUnit);
  return taken == 0 ? Occupancy::kUnlimited : static_cast<uint32_t>(a.sharedBytes / taken);
}

}  // namespace

std::string_view name(Resource r) {
  switch (r) {
    case Resource::Registers: return "registers";
    case Resource::SharedMemory: return "shared memory";
    case Resource::Warps: return "warps";
    case Resource::Blocks: return "blocks";
    case Resource::Barriers: return "barriers";
  }
  return {};
}

Occupancy occupancy(const Limits& a, const BlockNeeds& block) {
  Occupancy result;
  result.mostWarps = a.mostWarps;
  if (block.threads == 0) return result;
  const uint32_t warps = (block.threads - 1) / Limits::kThreadsPerWarp + 1;
  const auto set = [&](Resource r, uint32_t blocks) { result.blocksBy[static_cast<std::size_t>(r)] = blocks; };
  set(Resource::Registers, blocksByRegisters(a, block, warps));
  set(Resource::SharedMemory, blocksBySharedMemory(a, block));
  set(Resource::Warps, block.threads > Limits::kMostThreadsPerBlock ? 0 : a.mostWarps / warps);
  set(Resource::Blocks, a.mostBlocks);
  set(Resource::Barriers,
      a.barriersLimit && block.barriers != 0 ? a.barriers / block.barriers : Occupancy::kUnlimited);
  result.blocks = *std::ranges::min_element(result.blocksBy);
  result.warps = result.blocks * warps;
  return result;
}

std::vector<OccupancyStep> occupancySteps(const Limits& a, BlockNeeds block) {
  std::vector<OccupancyStep> steps;
  for (uint32_t r = 1; r <= Limits::kMostRegistersPerThread; ++r) {
    block.registersPerThread = r;
    const Occupancy o = occupancy(a, block);
    if (steps.empty() || steps.back().blocks != o.blocks) steps.push_back({r, r, o.blocks, o.warps});
    steps.back().mostRegisters = r;
  }
  return steps;
}

std::optional<uint32_t> nextStepUp(const Limits& a, const BlockNeeds& block) {
  const uint32_t blocks = occupancy(a, block).blocks;
  BlockNeeds fewer = block;
  fewer.registersPerThread = std::min(block.registersPerThread, Limits::kMostRegistersPerThread + 1);
  while (fewer.registersPerThread > 1) {
    --fewer.registersPerThread;
    if (occupancy(a, fewer).blocks > blocks) return fewer.registersPerThread;
  }
  return {};
}

std::optional<uint32_t> nextCliff(const Limits& a, const BlockNeeds& block) {
  const uint32_t blocks = occupancy(a, block).blocks;
  BlockNeeds more = block;
  while (more.registersPerThread < Limits::kMostRegistersPerThread) {
    ++more.registersPerThread;
    if (occupancy(a, more).blocks < blocks) return more.registersPerThread;
  }
  return {};
}

uint32_t lastOfStep(const Limits& a, const BlockNeeds& block) {
  return nextCliff(a, block).value_or(Limits::kMostRegistersPerThread + 1) - 1;
}

}  // namespace ptxopt::target
