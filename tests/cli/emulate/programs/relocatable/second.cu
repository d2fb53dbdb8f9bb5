// The second file of ../relocatable.cu.
#include "../relocatable.h"

__constant__ float scale = 2.0f;
static __device__ int counter = 7;
static __device__ __noinline__ float helper(float x) { return x * 10.0f; }
__device__ float twice(float x) { return 2 * x; }
static __device__ float large(float x) { return helper(x) + static_cast<float>(counter); }
static __device__ float small(float x) { return x - 1; }
__device__ Operation operations[2] = {large, small};

__global__ void second(float* x, int n, int* counted) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] += thrice(static_cast<float>(table[i & 3]));
  *counted = counter;
  if (i == 0) printf("second %d\n", table[1]);
}

void addOnDevice(float* x, int n, int* counted) { second<<<3, 32>>>(x, n, counted); }
