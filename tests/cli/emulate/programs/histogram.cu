// Histograms: counters in shared memory, votes of a warp, and bytes in memory of the host that kernels see.
#include "program.h"

__global__ void count(const uchar4* data, int n, unsigned* bins) {
  __shared__ unsigned mine[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uchar4 v = data[i];
    atomicAdd(&mine[v.x], 1);
    atomicAdd(&mine[v.y], 1);
    atomicAdd(&mine[v.z], 1);
    atomicAdd(&mine[v.w], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (mine[i] != 0) atomicAdd(&bins[i], mine[i]);
}

// Threads of a warp with the same byte add once.
__global__ void countMatched(const unsigned char* data, int n, unsigned* bins) {
  for (int first = blockIdx.x * blockDim.x; first < n; first += gridDim.x * blockDim.x) {
    const int i = first + threadIdx.x;
    const unsigned there = __ballot_sync(~0u, i < n);
    if (i >= n) continue;
    const unsigned same = __match_any_sync(there, data[i]);
    if (__ffs(same) - 1 == threadIdx.x % 32) atomicAdd(&bins[data[i]], __popc(same));
  }
}

int main() {
  const int n = 6000;
  Numbers numbers;
  unsigned char* host;
  CUDA(cudaHostAlloc(&host, n, cudaHostAllocMapped | cudaHostAllocWriteCombined));
  std::vector<unsigned> expected(256);
  for (int i = 0; i < n; ++i) ++expected[host[i] = static_cast<unsigned char>(numbers.below(40) * numbers.below(7))];
  void* seen;
  CUDA(cudaHostGetDevicePointer(&seen, host, 0));
  unsigned flags;
  CUDA(cudaHostGetFlags(&flags, host));
  EXPECT((flags & cudaHostAllocMapped) != 0);
  unsigned *bins = zeros<unsigned>(256), *matched = zeros<unsigned>(256);
  count<<<4, 128>>>(static_cast<uchar4*>(seen), n / 4, bins);
  countMatched<<<3, 96>>>(static_cast<unsigned char*>(seen), n, matched);
  LAUNCHED();
  EXPECT(onHost(bins, 256) == expected);
  EXPECT(onHost(matched, 256) == expected);
  CUDA(cudaFreeHost(host));
  return passed();
}
