// One switch over the numbers of cudaDeviceAttr and CUdevice_attribute, which are the same, gives each value from the
// target's limits and capabilities or as a constant.
#include "emulate/properties.h"

#include <fmt/format.h>

#include "target/occupancy.h"

namespace ptxopt::emulate {
namespace {

constexpr uint32_t kUsualTarget = 80;  // whose limits stand for those of a target that has none

}  // namespace

int deviceAttribute(int attribute, unsigned number) {
  const target::Target target(number);
  const target::Limits* known = target.limits();
  if (known == nullptr) known = target::Target(kUsualTarget).limits();
  const target::Limits& a = *known;
  const bool hasClusters = target.has(target::Capability::Clusters);
  constexpr int kOptInFrom = 48 << 10, kClockKHz = 1'500'000, kMemoryClockKHz = 1'000'000;
  switch (attribute) {
    case 1: return static_cast<int>(target::Limits::kMostThreadsPerBlock);
    case 2:
    case 3: return 1024;
    case 4: return 64;
    case 5: return INT32_MAX;
    case 6:
    case 7: return 65535;
    case 8: return kOptInFrom;
    case 9: return 64 << 10;  // constant memory
    case 10: return static_cast<int>(target::Limits::kThreadsPerWarp);
    case 11: return INT32_MAX;  // pitch
    case 12: return static_cast<int>(target::Limits::kRegisters);
    case 13: return kClockKHz;
    case 14: return 512;  // alignment of textures
    case 15: return 1;    // copies and kernels overlap
    case 16: return kMultiprocessors;
    case 19: return 1;  // kernels see host memory
    case 21: return 131072;
    case 22: return 131072;
    case 23: return 65536;
    case 24:
    case 25:
    case 26: return 16384;
    case 27:
    case 28: return 32768;
    case 29: return 2048;
    case 30: return 512;
    case 31: return 1;  // kernels at the same time
    case 36: return kMemoryClockKHz;
    case 37: return 256;      // bits of the bus
    case 38: return 4 << 20;  // L2
    case 39: return static_cast<int>(a.mostThreads());
    case 40: return 1;
    case 41: return 1;  // one address space
    case 42: return 32768;
    case 43: return 2048;
    case 45:
    case 46: return 32768;
    case 51: return 32;  // alignment of pitched textures
    case 52: return 32768;
    case 55: return 32768;
    case 56: return 131072;
    case 57: return 65536;
    case 58:
    case 59:
    case 60: return 16384;
    case 69: return 1 << 28;
    case 70: return 131072;
    case 71: return 65000;
    case 72: return 2097120;
    case 73:
    case 74: return 32768;
    case 75: return static_cast<int>(number / 10);
    case 76: return static_cast<int>(number % 10);
    case 77: return 32768;
    case 78:
    case 79:
    case 80: return 1;
    case 81: return static_cast<int>(a.sharedBytes);
    case 82: return static_cast<int>(target::Limits::kRegisters);
    case 83: return 1;   // managed memory
    case 87: return 32;  // float against double
    case 89: return 1;   // managed memory at the same time: everything is done when a call returns
    case 91: return 1;
    case 95: return 1;  // cooperative launches
    case 97: return static_cast<int>(a.mostSharedBytesPerBlock());
    case 99: return 1;
    case 106: return static_cast<int>(a.mostBlocks);
    case 111: return static_cast<int>(a.reservedSharedBytes);
    case 115: return 1;  // memory pools
    case 120: return hasClusters;
    default: return 0;
  }
}

}  // namespace ptxopt::emulate
