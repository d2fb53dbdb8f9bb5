// Occupancy against the toolkit's own header, where that is installed, over a dense grid of inputs.
#include "target/occupancy.h"

#include <doctest/doctest.h>

#if __has_include("/usr/local/cuda/include/cuda_occupancy.h")

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#include "/usr/local/cuda/include/cuda_occupancy.h"
#pragma GCC diagnostic pop

using namespace ptxopt;
using namespace ptxopt::target;

namespace {

// The header works out blocks, units and barriers from the number; the rest it is told by the driver, here by us.
Occupancy toolkitAnswer(const Limits& a, const BlockNeeds& block) {
  cudaOccDeviceProp device;
  device.computeMajor = static_cast<int>(a.number / 10);
  device.computeMinor = static_cast<int>(a.number % 10);
  device.maxThreadsPerBlock = Limits::kMostThreadsPerBlock;
  device.maxThreadsPerMultiprocessor = static_cast<int>(a.mostThreads());
  device.regsPerBlock = Limits::kRegisters;
  device.regsPerMultiprocessor = Limits::kRegisters;
  device.warpSize = Limits::kThreadsPerWarp;
  device.sharedMemPerBlock = 48 * 1024;
  device.sharedMemPerMultiprocessor = a.sharedBytes;
  device.sharedMemPerBlockOptin = a.mostSharedBytesPerBlock();
  device.reservedSharedMemPerBlock = a.reservedSharedBytes;
  device.numSms = 1;
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = INT_MAX;
  kernel.numRegs = static_cast<int>(block.registersPerThread);
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = block.sharedBytes;
  kernel.numBlockBarriers = static_cast<int>(block.barriers);
  const cudaOccDeviceState state;
  cudaOccResult r{};
  REQUIRE(cudaOccMaxActiveBlocksPerMultiprocessor(&r, &device, &kernel, &state, static_cast<int>(block.threads),
                                                  block.sharedBytes) == CUDA_OCC_SUCCESS);
  const auto number = [](int n) { return n == INT_MAX ? Occupancy::kUnlimited : static_cast<uint32_t>(n); };
  Occupancy o;
  o.blocks = number(r.activeBlocksPerMultiprocessor);
  o.warps = o.blocks * ((block.threads + 31) / 32);
  o.mostWarps = a.mostWarps;
  o.blocksBy = {number(r.blockLimitRegs), number(r.blockLimitSharedMem), number(r.blockLimitWarps),
                number(r.blockLimitBlocks), number(r.blockLimitBarriers)};
  return o;
}

// That of CUDA 13.5 has sm_107, and half the barriers for sm_103; that of 13.2 has neither.
bool isInHeader(const Limits& a) {
  cudaOccDeviceProp device;
  device.computeMajor = 10;
  device.computeMinor = 7;
  int blocks = 0;
  const bool isNew = cudaOccMaxBlocksPerMultiprocessor(&blocks, &device) == CUDA_OCC_SUCCESS &&
                     blocks == static_cast<int>(Target("sm_107").limits()->mostBlocks);
  return isNew || (a.number != 103 && a.number != 107);
}

uint64_t compared = 0;

void compare(const Limits& a, const BlockNeeds& block) {
  ++compared;
  const Occupancy ours = occupancy(a, block), theirs = toolkitAnswer(a, block);
  if (ours == theirs) return;
  CAPTURE(a.number);
  CAPTURE(block.registersPerThread);
  CAPTURE(block.threads);
  CAPTURE(block.sharedBytes);
  CAPTURE(block.barriers);
  CHECK(ours.blocks == theirs.blocks);
  CHECK(ours.blocksBy == theirs.blocksBy);
  FAIL("occupancy differs from the toolkit's");
}

}  // namespace

TEST_CASE("occupancy agrees with cuda_occupancy.h") {
  for (const Limits& a : targets()) {
    if (!isInHeader(a)) continue;
    for (uint32_t registers = 0; registers <= Limits::kMostRegistersPerThread; ++registers)
      for (uint32_t threads = 1; threads <= 1056; threads += threads % 32 == 1 ? 31 : 1)
        compare(a, {registers, threads, 3000, 1});
    for (uint64_t bytes = 0; bytes <= a.sharedBytes; bytes += 251)
      for (const uint32_t threads : {32u, 96u, 256u, 1024u}) compare(a, {40, threads, bytes, 1});
    // Where the most of a block ends, and where a block more or less fits.
    for (uint32_t blocks = 1; blocks <= a.mostBlocks; ++blocks)
      for (uint64_t bytes = a.sharedBytes / blocks - 1300;
           bytes < a.sharedBytes / blocks + 300 && bytes <= a.sharedBytes; bytes += 64)
        for (const uint64_t near : {bytes - 1, bytes, bytes + 1})
          if (near <= a.mostSharedBytesPerBlock()) compare(a, {32, 64, near, 0});
    for (uint32_t barriers = 0; barriers <= 16; ++barriers)
      for (const uint32_t threads : {32u, 64u, 128u}) compare(a, {24, threads, 0, barriers});
  }
  CHECK(compared > 200000);
}

#endif
