// Kernels and a program of the build tests: device functions, loops, shared memory, a second file for -rdc.
#include <cstdio>

#ifdef SECOND
__device__ float elsewhere(float x) { return x * x + 1.0f; }
#else

#ifdef RDC
extern __device__ float elsewhere(float x);
#else
__device__ float elsewhere(float x) { return x * x + 1.0f; }
#endif

__device__ __noinline__ float mix(float a, float b) { return a * 0.5f + b; }

extern "C" __global__ void rows(float* out, const float* in, int width, int height) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= height) return;
  float sum = 0;
  for (int i = 0; i < width; ++i) sum = mix(sum, elsewhere(in[row * width + i]));
  out[row] = sum;
}

extern "C" __global__ void blocks(int* counts, const int* keys, int n) {
  __shared__ int local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[keys[i] & 255], 1);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

#ifndef NO_MAIN
int main() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  std::printf("%d\n", error == cudaSuccess ? devices : 0);
  if (devices > 0) {
    rows<<<1, 32>>>(nullptr, nullptr, 0, 0);
    blocks<<<1, 256>>>(nullptr, nullptr, 0);
  }
  return 0;
}
#endif
#endif
