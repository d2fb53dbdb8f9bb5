// CUlaunchConfig of the driver, and its attributes, as far as they are read.
#pragma once

namespace ptxopt::interpose {

struct LaunchAttribute {
  unsigned id, padding;
  unsigned values[16];
};
struct LaunchConfig {
  unsigned grid[3], block[3], shared;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned count;
};

}  // namespace ptxopt::interpose
