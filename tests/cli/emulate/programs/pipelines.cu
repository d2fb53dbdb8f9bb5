// Copies into shared memory that a kernel waits for later: by stages of a pipeline, and by a barrier that counts.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include "program.h"

namespace cg = cooperative_groups;
constexpr int kTile = 64, kStages = 3;

__global__ void staged(const int4* in, int4* out, int tiles) {
  __shared__ int4 stages[kStages][kTile];
  const auto load = [&](int tile) {
    if (tile < tiles) __pipeline_memcpy_async(&stages[tile % kStages][threadIdx.x], &in[tile * kTile + threadIdx.x], sizeof(int4));
    __pipeline_commit();
  };
  for (int i = 0; i < kStages - 1; ++i) load(i);
  for (int tile = 0; tile < tiles; ++tile) {
    load(tile + kStages - 1);
    __pipeline_wait_prior(kStages - 1);
    __syncthreads();
    const int4 v = stages[tile % kStages][kTile - 1 - threadIdx.x];
    out[tile * kTile + threadIdx.x] = make_int4(v.w, v.z, v.y, v.x);
    __syncthreads();
  }
}

__global__ void grouped(const int* in, int* sums, int n) {
  extern __shared__ int part[];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, part, in + blockIdx.x * n, sizeof(int) * n);
  cg::wait(block);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += part[i] * (i % (static_cast<int>(block.thread_rank()) + 2));
  sums[blockIdx.x * block.size() + block.thread_rank()] = sum;
}

int main() {
  const int tiles = 5, n = tiles * kTile;
  std::vector<int4> values(n);
  for (int i = 0; i < n; ++i) values[i] = make_int4(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
  int4* const out = zeros<int4>(n);
  staged<<<1, kTile>>>(onDevice(values), out, tiles);
  LAUNCHED();
  const auto turned = onHost(out, n);
  for (int i = 0; i < n; ++i) {
    const int from = i / kTile * kTile + kTile - 1 - i % kTile;
    EXPECT(turned[i].x == 4 * from + 3 && turned[i].w == 4 * from);
  }
  std::vector<int> numbers(200);
  for (int i = 0; i < 200; ++i) numbers[i] = i * 13 % 29;
  int* const sums = zeros<int>(2 * 32);
  grouped<<<2, 32, 100 * sizeof(int)>>>(onDevice(numbers), sums, 100);
  LAUNCHED();
  const auto s = onHost(sums, 64);
  for (int t = 0; t < 64; ++t) {
    int sum = 0;
    for (int i = 0; i < 100; ++i) sum += numbers[t / 32 * 100 + i] * (i % (t % 32 + 2));
    EXPECT(s[t] == sum);
  }
  return passed();
}
