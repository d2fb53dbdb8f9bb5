// Grids whose blocks wait for each other: as many as the device holds, a prefix sum by doubling, and the errors of too many.
#include <cooperative_groups.h>

#include "program.h"

namespace cg = cooperative_groups;

__global__ void doubling(int* a, int* b, int n) {
  const cg::grid_group grid = cg::this_grid();
  for (int d = 1; d < n; d *= 2) {
    for (auto i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size()))
      b[i] = a[i] + (i >= d ? a[i - d] : 0);
    grid.sync();
    int* const t = a;
    a = b, b = t;
  }
}

int main() {
  int supported = 0, blocksPerSm = 0, multiprocessors = 0;
  CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
  CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  EXPECT(supported == 1);
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocksPerSm, doubling, 64, 0));
  EXPECT(blocksPerSm > 0);
  int n = 1 << 10;
  Numbers numbers;
  std::vector<int> values(n);
  for (int& v : values) v = static_cast<int>(numbers.below(50));
  int *a = onDevice(values), *b = zeros<int>(n);
  void* arguments[] = {&a, &b, &n};
  CUDA(cudaLaunchCooperativeKernel(doubling, dim3(6), dim3(64), arguments, 0, nullptr));
  const auto sums = onHost(a, n);
  for (int i = 0, sum = 0; i < n; ++i) EXPECT(sums[i] == (sum += values[i]));
  const dim3 tooMany(static_cast<unsigned>(blocksPerSm * multiprocessors + 1));
  EXPECT(cudaLaunchCooperativeKernel(doubling, tooMany, dim3(64), arguments, 0, nullptr) ==
         cudaErrorCooperativeLaunchTooLarge);
  EXPECT(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  EXPECT(cudaGetLastError() == cudaSuccess);
  return passed();
}
