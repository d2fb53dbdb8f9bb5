// CUB: sums, scans and sorts of warps, blocks and the device, with keys, flags and runs.
#include <cub/cub.cuh>

#include <algorithm>
#include <numeric>

#include "program.h"

__global__ void sortBlocks(int* keys, int* sums) {
  using Sort = cub::BlockRadixSort<int, 64, 4>;
  using Scan = cub::BlockScan<int, 64>;
  using Load = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  __shared__ union {
    Sort::TempStorage sort;
    Scan::TempStorage scan;
    Load::TempStorage load;
  } memory;
  int items[4], total;
  Load(memory.load).Load(keys + blockIdx.x * 256, items);
  __syncthreads();
  Sort(memory.sort).Sort(items);
  __syncthreads();
  cub::StoreDirectBlocked(threadIdx.x, keys + blockIdx.x * 256, items);
  Scan(memory.scan).InclusiveSum(items, items, total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

template <typename F>
void withStorage(F call) {
  size_t bytes = 0;
  CUDA(call(nullptr, bytes));
  void* storage;
  CUDA(cudaMalloc(&storage, bytes == 0 ? 1 : bytes));
  CUDA(call(storage, bytes));
  CUDA(cudaFree(storage));
}

int main() {
  const int n = 1024;
  Numbers numbers;
  std::vector<int> values(n);
  for (int& v : values) v = static_cast<int>(numbers.below(300)) - 100;
  int *in = onDevice(values), *out = zeros<int>(n), *count = zeros<int>(1), *blocks = onDevice(values), *sums = zeros<int>(4);
  sortBlocks<<<4, 64>>>(blocks, sums);
  LAUNCHED();
  const auto sorted = onHost(blocks, n), totals = onHost(sums, 4);
  for (int b = 0; b < 4; ++b) {
    std::vector<int> part(values.begin() + 256 * b, values.begin() + 256 * (b + 1));
    std::sort(part.begin(), part.end());
    EXPECT(std::equal(part.begin(), part.end(), sorted.begin() + 256 * b));
    EXPECT(totals[b] == std::accumulate(part.begin(), part.end(), 0));
  }
  withStorage([&](void* s, size_t& bytes) { return cub::DeviceReduce::Sum(s, bytes, in, count, n); });
  EXPECT(onHost(count, 1)[0] == std::accumulate(values.begin(), values.end(), 0));
  withStorage([&](void* s, size_t& bytes) { return cub::DeviceScan::ExclusiveSum(s, bytes, in, out, n); });
  const auto scanned = onHost(out, n);
  for (int i = 0, sum = 0; i < n; sum += values[i++]) EXPECT(scanned[i] == sum);
  withStorage([&](void* s, size_t& bytes) { return cub::DeviceRadixSort::SortKeys(s, bytes, in, out, n); });
  std::sort(values.begin(), values.end());
  EXPECT(onHost(out, n) == values);
  int* const unique = zeros<int>(n);
  withStorage([&](void* s, size_t& bytes) { return cub::DeviceSelect::Unique(s, bytes, out, unique, count, n); });
  values.erase(std::unique(values.begin(), values.end()), values.end());
  EXPECT(onHost(count, 1)[0] == static_cast<int>(values.size()) && onHost(unique, values.size()) == values);
  return passed();
}
