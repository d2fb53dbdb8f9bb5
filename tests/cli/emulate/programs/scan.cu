// Prefix sums of more than one block, work-efficient in shared memory, and by a chain of blocks that look back.
#include "program.h"

constexpr int kThreads = 128, kItems = 2 * kThreads;

__global__ void scanBlocks(const int* in, int* out, int* totals, int n) {
  __shared__ int tree[kItems];
  const int t = threadIdx.x, first = blockIdx.x * kItems;
  for (int i = t; i < kItems; i += kThreads) tree[i] = first + i < n ? in[first + i] : 0;
  int distance = 1;
  for (int d = kItems / 2; d > 0; d /= 2, distance *= 2) {
    __syncthreads();
    if (t < d) tree[distance * (2 * t + 2) - 1] += tree[distance * (2 * t + 1) - 1];
  }
  __syncthreads();
  if (t == 0) totals[blockIdx.x] = tree[kItems - 1], tree[kItems - 1] = 0;
  for (int d = 1; d < kItems; d *= 2) {
    distance /= 2;
    __syncthreads();
    if (t >= d) continue;
    const int left = distance * (2 * t + 1) - 1, right = distance * (2 * t + 2) - 1;
    const int x = tree[left];
    tree[left] = tree[right];
    tree[right] += x;
  }
  __syncthreads();
  for (int i = t; i < kItems; i += kThreads)
    if (first + i < n) out[first + i] = tree[i];
}

__global__ void addTotals(int* out, const int* before, int n) {
  const int i = blockIdx.x * kItems + threadIdx.x;
  if (i < n) out[i] += before[blockIdx.x];
  if (i + kThreads < n) out[i + kThreads] += before[blockIdx.x];
}

// One pass: each block waits for the one before it.
__global__ void chained(const int* in, int* out, volatile int* flags, volatile int* sums, int* ticket, int n) {
  __shared__ int block, warps[8], before;
  if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
  __syncthreads();
  const int i = block * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int x = i < n ? in[i] : 0;
  for (int d = 1; d < 32; d *= 2) {
    const int y = __shfl_up_sync(~0u, x, d);
    if (lane >= d) x += y;
  }
  if (lane == 31) warps[warp] = x;
  __syncthreads();
  for (int w = 0; w < warp; ++w) x += warps[w];
  if (threadIdx.x == blockDim.x - 1) {
    int sum = 0;
    if (block > 0) {
      while (flags[block - 1] == 0) {
      }
      __threadfence();
      sum = sums[block - 1];
    }
    before = sum;
    sums[block] = sum + x;
    __threadfence();
    flags[block] = 1;
  }
  __syncthreads();
  if (i < n) out[i] = x + before;
}

int main() {
  Numbers numbers;
  const int n = 5000, blocks = (n + kItems - 1) / kItems;
  std::vector<int> values(n), exclusive(n), inclusive(n);
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    exclusive[i] = sum;
    inclusive[i] = sum += values[i] = static_cast<int>(numbers.below(100)) - 30;
  }
  int *in = onDevice(values), *out = zeros<int>(n), *totals = zeros<int>(blocks), *before = zeros<int>(blocks);
  scanBlocks<<<blocks, kThreads>>>(in, out, totals, n);
  scanBlocks<<<1, kThreads>>>(totals, before, zeros<int>(1), blocks);
  addTotals<<<blocks, kThreads>>>(out, before, n);
  LAUNCHED();
  EXPECT(onHost(out, n) == exclusive);
  const int chain = (n + 255) / 256;
  chained<<<chain, 256>>>(in, out, zeros<int>(chain), zeros<int>(chain), zeros<int>(1), n);
  LAUNCHED();
  EXPECT(onHost(out, n) == inclusive);
  return passed();
}
