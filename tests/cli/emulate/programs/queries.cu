// What a program asks about the device, its kernels and the last error, before it does anything.
#include <cstring>

#include "program.h"

__global__ void __launch_bounds__(256) bounded(int* p) {
  __shared__ int values[100];
  values[threadIdx.x % 100] = *p;
  __syncthreads();
  *p = values[7];
}
__global__ void plain(int* p) { *p = 1; }

int main() {
  int count = 0, device = -1, runtime = 0, driver = 0;
  CUDA(cudaGetDeviceCount(&count));
  CUDA(cudaGetDevice(&device));
  CUDA(cudaRuntimeGetVersion(&runtime));
  CUDA(cudaDriverGetVersion(&driver));
  EXPECT(count == 1 && device == 0 && runtime >= 12000 && driver >= runtime);
  EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError() == cudaSuccess && std::strcmp(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice") == 0);
  EXPECT(std::strlen(cudaGetErrorString(cudaErrorIllegalAddress)) > 5);
  CUDA(cudaSetDevice(0));
  cudaDeviceProp p;
  CUDA(cudaGetDeviceProperties(&p, 0));
  int major, minor, optIn;
  CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
  CUDA(cudaDeviceGetAttribute(&optIn, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT(p.major == 8 && p.minor == 0 && p.major == major && p.minor == minor && p.warpSize == 32);
  EXPECT(p.sharedMemPerBlockOptin == static_cast<size_t>(optIn) && optIn > 48 << 10 && p.maxThreadsPerBlock == 1024);
  EXPECT(p.name[0] != '\0' && p.totalGlobalMem > 1 << 20 && p.multiProcessorCount > 0 && p.maxGridSize[1] == 65535);

  size_t before, after, total;
  CUDA(cudaMemGetInfo(&before, &total));
  EXPECT(total == p.totalGlobalMem);
  void* memory;
  CUDA(cudaMalloc(&memory, 1 << 20));
  CUDA(cudaMemGetInfo(&after, &total));
  EXPECT(before - after >= 1 << 20);
  CUDA(cudaFree(memory));
  void* tooMuch = nullptr;
  EXPECT(cudaMalloc(&tooMuch, total + 1) == cudaErrorMemoryAllocation && tooMuch == nullptr);
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
  CUDA(cudaFree(nullptr));

  cudaFuncAttributes a;
  CUDA(cudaFuncGetAttributes(&a, bounded));
  EXPECT(a.sharedSizeBytes == 400 && a.maxThreadsPerBlock == 256 && a.numRegs > 0 && a.ptxVersion == 80);
  CUDA(cudaFuncGetAttributes(&a, plain));
  EXPECT(a.sharedSizeBytes == 0 && a.maxThreadsPerBlock == 1024);
  CUDA(cudaFuncSetCacheConfig(plain, cudaFuncCachePreferL1));
  EXPECT(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20) == cudaErrorInvalidValue);
  cudaGetLastError();
  int blocks = 0, size = 0, grid = 0;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 1024, 0));
  EXPECT(blocks == p.maxThreadsPerMultiProcessor / 1024);
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 32, 40 << 10));
  EXPECT(blocks >= 1 && blocks <= static_cast<int>(p.sharedMemPerMultiprocessor / (40 << 10)));
  CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &size, bounded));
  EXPECT(size > 0 && size <= 256 && grid >= p.multiProcessorCount);
  size_t stack;
  CUDA(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
  CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  CUDA(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
  EXPECT(stack == 4096);
  int peer = 1;
  CUDA(cudaDeviceCanAccessPeer(&peer, 0, 0));
  EXPECT(peer == 0);
  char bus[32];
  CUDA(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  CUDA(cudaDeviceGetByPCIBusId(&device, bus));
  EXPECT(device == 0);
  CUDA(cudaDeviceReset());
  return passed();
}
