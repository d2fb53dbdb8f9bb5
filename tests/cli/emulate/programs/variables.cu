// Variables of the device: constant, managed, with what they begin as; their addresses and sizes; registered memory.
#include <cstddef>
#include <cstring>

#include "program.h"

struct Record {
  int number;
  float weights[3];
  char name[8];
};
__constant__ Record constants[2] = {{1, {0.5f, 1.5f, 2.5f}, "one"}, {2, {3, 4, 5}, "two"}};
__device__ double table[4] = {1.5, 2.5, 3.5, 4.5};
__device__ int* pointed;
__managed__ int shared = 40;
__managed__ long long many[16];
namespace inner {
__device__ const int kPrimes[] = {2, 3, 5, 7, 11, 13};
}

__global__ void use(float* out) {
  const int i = threadIdx.x;
  out[i] = constants[i % 2].weights[i % 3] + static_cast<float>(table[i % 4]) + static_cast<float>(inner::kPrimes[i % 6]) +
           static_cast<float>(constants[i % 2].name[0]);
  if (i == 0) shared += 2;
  if (i < 16) many[i] = 1ll << (i + 30);
  pointed[i] += i;
}

int main() {
  const int n = 24;
  int* registered = static_cast<int*>(std::aligned_alloc(4096, 4096));
  std::memset(registered, 0, 4096);
  CUDA(cudaHostRegister(registered, 4096, cudaHostRegisterMapped));
  EXPECT(cudaHostRegister(registered, 4096, cudaHostRegisterMapped) == cudaErrorHostMemoryAlreadyRegistered);
  cudaGetLastError();
  int* seen;
  CUDA(cudaHostGetDevicePointer(&seen, registered, 0));
  CUDA(cudaMemcpyToSymbol(pointed, &seen, sizeof seen));
  size_t size = 0;
  CUDA(cudaGetSymbolSize(&size, constants));
  EXPECT(size == sizeof(Record) * 2);
  void* address;
  CUDA(cudaGetSymbolAddress(&address, table));
  const double changed = 100;
  CUDA(cudaMemcpy(static_cast<double*>(address) + 2, &changed, sizeof changed, cudaMemcpyHostToDevice));
  const float weight = 7;
  CUDA(cudaMemcpyToSymbol(constants, &weight, sizeof weight, sizeof(Record) + offsetof(Record, weights) + 4));
  float* const out = zeros<float>(n);
  use<<<1, n>>>(out);
  CUDA(cudaDeviceSynchronize());
  const float weights[2][3] = {{0.5f, 1.5f, 2.5f}, {3, 7, 5}};
  const double doubles[4] = {1.5, 2.5, 100, 4.5};
  const int primes[] = {2, 3, 5, 7, 11, 13};
  const auto result = onHost(out, n);
  for (int i = 0; i < n; ++i) {
    EXPECT(result[i] == weights[i % 2][i % 3] + static_cast<float>(doubles[i % 4]) + primes[i % 6] + (i % 2 == 0 ? 'o' : 't'));
    EXPECT(registered[i] == i);
  }
  EXPECT(shared == 42 && many[15] == 1ll << 45);
  double back[4];
  CUDA(cudaMemcpyFromSymbol(back, table, sizeof back));
  EXPECT(std::memcmp(back, doubles, sizeof back) == 0);
  cudaPointerAttributes attributes;
  CUDA(cudaPointerGetAttributes(&attributes, &shared));
  EXPECT(attributes.type == cudaMemoryTypeManaged);
  CUDA(cudaPointerGetAttributes(&attributes, out));
  EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
  CUDA(cudaPointerGetAttributes(&attributes, &size));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);
  CUDA(cudaHostUnregister(registered));
  EXPECT(cudaHostUnregister(registered) == cudaErrorHostMemoryNotRegistered);
  std::free(registered);
  return passed();
}
