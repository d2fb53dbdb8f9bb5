// A bitonic sort, in shared memory and across blocks, and a radix sort by ballots that keeps the order of equal keys.
#include <algorithm>

#include "program.h"

constexpr int kPart = 512;

__device__ void order(unsigned& a, unsigned& b, bool ascending) {
  if ((a > b) != ascending) return;
  const unsigned t = a;
  a = b;
  b = t;
}

__global__ void bitonicShared(unsigned* keys, int from, int most) {
  __shared__ unsigned part[kPart];
  const int first = blockIdx.x * kPart, t = threadIdx.x;
  part[t] = keys[first + t];
  part[t + kPart / 2] = keys[first + t + kPart / 2];
  for (int size = from; size <= most; size *= 2)
    for (int d = min(size, kPart) / 2; d > 0; d /= 2) {
      __syncthreads();
      const int i = 2 * t - (t & (d - 1));
      order(part[i], part[i + d], ((first + i) & size) == 0);
    }
  __syncthreads();
  keys[first + t] = part[t];
  keys[first + t + kPart / 2] = part[t + kPart / 2];
}

__global__ void bitonicStep(unsigned* keys, int size, int d) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = 2 * t - (t & (d - 1));
  order(keys[i], keys[i + d], (i & size) == 0);
}

struct Pair {
  unsigned short key;
  unsigned value;
};

// One block; a bit after the other.
__global__ void radix(Pair* pairs, Pair* other, int n) {
  __shared__ int zerosOf[32], total;
  for (int bit = 0; bit < 16; ++bit) {
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int count = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) count += (pairs[i].key >> bit & 1) == 0;
    atomicAdd(&total, count);
    __syncthreads();
    int zero = 0, one = total;
    for (int first = 0; first < n; first += blockDim.x) {
      const int i = first + threadIdx.x, warp = threadIdx.x / 32;
      const bool isThere = i < n;
      const Pair p = isThere ? pairs[i] : Pair{};
      const bool isZero = isThere && (p.key >> bit & 1) == 0;
      const unsigned here = __ballot_sync(~0u, isZero), below = (1u << threadIdx.x % 32) - 1;
      zerosOf[warp] = __popc(here);
      __syncthreads();
      int before = __popc(here & below), all = 0;
      for (int w = 0; w < blockDim.x / 32; ++w) {
        if (w < warp) before += zerosOf[w];
        all += zerosOf[w];
      }
      if (isThere) other[isZero ? zero + before : one + static_cast<int>(threadIdx.x) - before] = p;
      const int there = min(n - first, static_cast<int>(blockDim.x));
      zero += all;
      one += there - all;
      __syncthreads();
    }
    Pair* const swapped = pairs;
    pairs = other;
    other = swapped;
  }
}

int main() {
  Numbers numbers;
  std::vector<unsigned> keys(2048);
  for (unsigned& k : keys) k = numbers.next();
  unsigned* const device = onDevice(keys);
  const int n = static_cast<int>(keys.size());
  bitonicShared<<<n / kPart, kPart / 2>>>(device, 2, kPart);
  for (int size = 2 * kPart; size <= n; size *= 2) {
    for (int d = size / 2; d >= kPart; d /= 2) bitonicStep<<<n / 512, 256>>>(device, size, d);
    bitonicShared<<<n / kPart, kPart / 2>>>(device, size, size);
  }
  LAUNCHED();
  std::sort(keys.begin(), keys.end());
  EXPECT(onHost(device, keys.size()) == keys);

  std::vector<Pair> pairs(700);
  for (unsigned i = 0; i < pairs.size(); ++i) pairs[i] = {static_cast<unsigned short>(numbers.below(500) * 131), i};
  Pair* const in = onDevice(pairs);
  radix<<<1, 256>>>(in, zeros<Pair>(pairs.size()), static_cast<int>(pairs.size()));
  LAUNCHED();
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.key < b.key; });
  const auto sorted = onHost(in, pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) EXPECT(sorted[i].key == pairs[i].key && sorted[i].value == pairs[i].value);
  return passed();
}
