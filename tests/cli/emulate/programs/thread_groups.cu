// Groups of threads: tiles of several sizes, threads that came to the same place, groups by a label, reductions and scans.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "program.h"

namespace cg = cooperative_groups;

template <int kSize>
__global__ void tileSums(const int* in, int* out) {
  const auto tile = cg::tiled_partition<kSize>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int sum = cg::reduce(tile, in[i], cg::plus<int>());
  if (tile.thread_rank() == 0) out[i / kSize] = sum;
}

__global__ void prefixes(const int* in, int* out) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = cg::inclusive_scan(tile, in[i]);
}

// One addition for all that came here together.
__global__ void keep(const int* in, int n, int* out, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || in[i] % 3 != 0) return;
  const auto here = cg::coalesced_threads();
  int first = 0;
  if (here.thread_rank() == 0) first = atomicAdd(count, static_cast<int>(here.size()));
  out[here.shfl(first, 0) + here.thread_rank()] = in[i];
}

__global__ void labels(const int* in, int* sizes) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const auto group = cg::labeled_partition(tile, in[threadIdx.x] % 5);
  sizes[threadIdx.x] = static_cast<int>(group.size()) * 100 + static_cast<int>(tile.any(in[threadIdx.x] == 0));
}

int main() {
  const int n = 512;
  Numbers numbers;
  std::vector<int> values(n);
  for (int& v : values) v = 1 + static_cast<int>(numbers.below(90));
  int *in = onDevice(values), *out = zeros<int>(n), *count = zeros<int>(1);
  const auto sumsAre = [&](int size) {
    const auto sums = onHost(out, n / size);
    for (int i = 0; i < n / size; ++i) {
      int sum = 0;
      for (int j = 0; j < size; ++j) sum += values[i * size + j];
      EXPECT(sums[i] == sum);
    }
  };
  tileSums<4><<<4, 128>>>(in, out);
  sumsAre(4);
  tileSums<32><<<2, 256>>>(in, out);
  sumsAre(32);
  prefixes<<<4, 128>>>(in, out);
  const auto scanned = onHost(out, n);
  for (int i = 0, sum = 0; i < n; ++i) EXPECT(scanned[i] == (sum = (i % 32 == 0 ? 0 : sum) + values[i]));
  keep<<<4, 128>>>(in, n, out, count);
  long long kept = 0, expected = 0;
  int expectedCount = 0;
  for (int v : values)
    if (v % 3 == 0) expected += v, ++expectedCount;
  EXPECT(onHost(count, 1)[0] == expectedCount);
  for (int v : onHost(out, expectedCount)) kept += v;
  EXPECT(kept == expected);
  labels<<<1, 32>>>(in, out);
  const auto sizes = onHost(out, 32);
  for (int i = 0; i < 32; ++i) {
    int same = 0;
    for (int j = 0; j < 32; ++j) same += values[i] % 5 == values[j] % 5;
    EXPECT(sizes[i] == same * 100);
  }
  return passed();
}
