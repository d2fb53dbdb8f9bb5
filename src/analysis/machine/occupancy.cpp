#include "analysis/machine/occupancy.h"

#include <algorithm>

#include "analysis/machine/target_number.h"

namespace ptxopt {
namespace {

constexpr Architecture kArchitectures[] = {
#define PTX_ARCHITECTURE(number, warps, blocks, sharedKiB, reserved, sharedUnit, barriers, barriersLimit) \
  {number, warps, blocks, (sharedKiB)*1024, reserved, sharedUnit, barriers, barriersLimit},
#include "analysis/machine/architectures.def"
#undef PTX_ARCHITECTURE
};

constexpr uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

uint32_t blocksByRegisters(const Architecture&, const BlockNeeds& block, uint32_t warps) {
  using A = Architecture;
  if (block.registersPerThread > A::kMostRegistersPerThread) return 0;
  if (block.registersPerThread == 0) return Occupancy::kUnlimited;
  const auto ofWarp =
      static_cast<uint32_t>(roundUp(block.registersPerThread * A::kThreadsPerWarp, A::kRegisterUnit));
  if (ofWarp * roundUp(warps, A::kParts) > A::kRegisters) return 0;
  return A::kRegisters / A::kParts / ofWarp * A::kParts / warps;
}

uint32_t blocksBySharedMemory(const Architecture& a, const BlockNeeds& block) {
  if (block.sharedBytes > a.mostSharedBytesPerBlock()) return 0;
  const uint64_t taken = roundUp(block.sharedBytes + a.reservedSharedBytes, a.sharedUnit);
  return taken == 0 ? Occupancy::kUnlimited : static_cast<uint32_t>(a.sharedBytes / taken);
}

}  // namespace

std::span<const Architecture> architectures() { return kArchitectures; }

const Architecture* architecture(std::string_view target) {
  const auto number = targetNumber(target);
  if (!number) return nullptr;
  const auto* found = std::ranges::find(kArchitectures, *number, &Architecture::number);
  return found == std::end(kArchitectures) ? nullptr : found;
}

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

Occupancy occupancy(const Architecture& a, const BlockNeeds& block) {
  Occupancy result;
  result.mostWarps = a.mostWarps;
  if (block.threads == 0) return result;
  const uint32_t warps = (block.threads - 1) / Architecture::kThreadsPerWarp + 1;
  const auto set = [&](Resource r, uint32_t blocks) { result.blocksBy[static_cast<std::size_t>(r)] = blocks; };
  set(Resource::Registers, blocksByRegisters(a, block, warps));
  set(Resource::SharedMemory, blocksBySharedMemory(a, block));
  set(Resource::Warps, block.threads > Architecture::kMostThreadsPerBlock ? 0 : a.mostWarps / warps);
  set(Resource::Blocks, a.mostBlocks);
  set(Resource::Barriers,
      a.barriersLimit && block.barriers != 0 ? a.barriers / block.barriers : Occupancy::kUnlimited);
  result.blocks = *std::ranges::min_element(result.blocksBy);
  result.warps = result.blocks * warps;
  return result;
}

std::vector<OccupancyStep> occupancySteps(const Architecture& a, BlockNeeds block) {
  std::vector<OccupancyStep> steps;
  for (uint32_t r = 1; r <= Architecture::kMostRegistersPerThread; ++r) {
    block.registersPerThread = r;
    const Occupancy o = occupancy(a, block);
    if (steps.empty() || steps.back().blocks != o.blocks) steps.push_back({r, r, o.blocks, o.warps});
    steps.back().mostRegisters = r;
  }
  return steps;
}

std::optional<uint32_t> nextStepUp(const Architecture& a, const BlockNeeds& block) {
  const uint32_t blocks = occupancy(a, block).blocks;
  BlockNeeds fewer = block;
  fewer.registersPerThread = std::min(block.registersPerThread, Architecture::kMostRegistersPerThread + 1);
  while (fewer.registersPerThread > 1) {
    --fewer.registersPerThread;
    if (occupancy(a, fewer).blocks > blocks) return fewer.registersPerThread;
  }
  return {};
}

std::optional<uint32_t> nextCliff(const Architecture& a, const BlockNeeds& block) {
  const uint32_t blocks = occupancy(a, block).blocks;
  BlockNeeds more = block;
  while (more.registersPerThread < Architecture::kMostRegistersPerThread) {
    ++more.registersPerThread;
    if (occupancy(a, more).blocks < blocks) return more.registersPerThread;
  }
  return {};
}

uint32_t lastOfStep(const Architecture& a, const BlockNeeds& block) {
  return nextCliff(a, block).value_or(Architecture::kMostRegistersPerThread + 1) - 1;
}

}  // namespace ptxopt
