// Relocatable device code, -rdc=true: functions, variables, tables of functions and templates of two files, and names that
// each file has for itself.
#include "relocatable.h"

__device__ int table[16] = {1, 2, 3, 4};
static __device__ int counter = 5;
static __device__ __noinline__ float helper(float x) { return x + 1.0f; }

__global__ void first(float* x, int n, int* counted) {
  extern __shared__ float block[];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  block[threadIdx.x] = x[i];
  x[i] = helper(twice(block[threadIdx.x])) * scale + table[i & 15] + thrice(x[i]) + operations[i & 1](2.0f);
  *counted = atomicAdd(&counter, 0);
  if (i == 0) printf("first %d\n", table[1]);
}

int main() {
  const int n = 96;
  float* const x = zeros<float>(n);
  int* const counted = zeros<int>(2);
  const float three = 3;
  for (const float s : {2.0f, three}) {
    if (s == three) CUDA(cudaMemcpyToSymbol(scale, &three, sizeof three));
    const auto before = onHost(x, n);
    first<<<3, 32, 32 * sizeof(float)>>>(x, n, counted);
    addOnDevice(x, n, counted + 1);
    CUDA(cudaDeviceSynchronize());
    const auto result = onHost(x, n);
    for (int i = 0; i < n; ++i) {
      const float begin = (i & 15) < 4 ? static_cast<float>((i & 15) + 1) : 0.0f;
      const float is = (2 * before[i] + 1) * s + begin + before[i] * 3 + 1 + (i % 2 == 0 ? 2.0f * 10 + 7 : 1.0f);
      EXPECT(result[i] == is + static_cast<float>((i & 3) + 1) * 3 + 1);
    }
    const auto counters = onHost(counted, 2);
    EXPECT(counters[0] == 5 && counters[1] == 7);
  }
  int back[16];
  CUDA(cudaMemcpyFromSymbol(back, table, sizeof back));
  EXPECT(back[3] == 4);
  return passed();
}
