// How many blocks and warps of a kernel an SM holds at a time, and what holds more of them back.
//
// Registers go to warps: registers a thread times 32, rounded up to 256, out of the quarter of the file that the
// warp belongs to. A block must fit as if its warps were spread evenly over the four quarters. Shared memory goes
// to blocks: what the kernel asks for plus what the driver reserves, rounded up. The shared memory of an SM is
// taken to be as large as it can be; a kernel that prefers cache holds fewer blocks. Clusters are not looked at.
// The machine's figures are in targets.def. Cost: constant; steps: a division for each register count.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "target/target.h"

namespace ptxopt::target {

// What a block of a kernel takes.
struct BlockNeeds {
  uint32_t registersPerThread = 0;
  uint32_t threads = 0;
  uint64_t sharedBytes = 0;  // static and dynamic
  uint32_t barriers = 0;
};

enum class Resource : uint8_t { Registers, SharedMemory, Warps, Blocks, Barriers };
inline constexpr std::size_t kResources = 5;
std::string_view name(Resource r);

struct Occupancy {
  static constexpr uint32_t kUnlimited = UINT32_MAX;

  uint32_t blocks = 0;  // 0: such a block cannot run at all
  uint32_t warps = 0;
  uint32_t mostWarps = 0;
  std::array<uint32_t, kResources> blocksBy{};  // how many each resource alone would allow

  bool isLimitedBy(Resource r) const { return blocksBy[static_cast<std::size_t>(r)] == blocks; }
  friend bool operator==(const Occupancy&, const Occupancy&) = default;
};
Occupancy occupancy(const Limits& a, const BlockNeeds& block);

// A run of register counts with the same number of resident blocks.
struct OccupancyStep {
  uint32_t leastRegisters = 0, mostRegisters = 0;
  uint32_t blocks = 0, warps = 0;
  friend bool operator==(const OccupancyStep&, const OccupancyStep&) = default;
};
// All of them for 1 to 255 registers a thread, from few registers to many; that with no blocks included.
std::vector<OccupancyStep> occupancySteps(const Limits& a, BlockNeeds block);
// The most registers that give more resident blocks than `block` has; none when fewer registers give no more.
std::optional<uint32_t> nextStepUp(const Limits& a, const BlockNeeds& block);
// The fewest registers above the block's that give fewer blocks; none when no number does.
std::optional<uint32_t> nextCliff(const Limits& a, const BlockNeeds& block);
// The most registers that give as many resident blocks as the block's: up to the cliff.
uint32_t lastOfStep(const Limits& a, const BlockNeeds& block);

}  // namespace ptxopt::target
