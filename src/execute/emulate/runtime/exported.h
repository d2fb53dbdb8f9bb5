// How a function of the CUDA runtime is seen from outside: programs linked with CUDA 12 and 13 ask for it by name and by the
// version of the library, so each has both versions.
//
//     CUDA_API(cudaFree) int cudaFree(void* address) { ... }
//     CUDA_ALSO(cudaFree, cudaFree_ptds)
#pragma once

#include "emulate/state.h"

#define CUDA_VERSIONS_OF(name, as) \
  __asm__(".symver " #name "," #as "@libcudart.so.12\n\t.symver " #name "," #as "@@libcudart.so.13");
#define CUDA_ALSO(name, as) CUDA_VERSIONS_OF(name, as)
#define CUDA_API(name) CUDA_VERSIONS_OF(name, name) extern "C" __attribute__((visibility("default"), used))
// Where CUDA 13 gave a name other parameters, each version is a function of its own.
#define CUDA_API_12(name, as)                           \
  __asm__(".symver " #name "," #as "@libcudart.so.12"); \
  extern "C" __attribute__((visibility("default"), used))
#define CUDA_API_13(name, as)                            \
  __asm__(".symver " #name "," #as "@@libcudart.so.13"); \
  extern "C" __attribute__((visibility("default"), used))
// A driver function, of no version.
#define CUDA_DRIVER_API extern "C" __attribute__((visibility("default"), used))

#pragma GCC diagnostic ignored "-Wmissing-declarations"

namespace ptxopt::emulate {

template <typename T>
T& out(T* place) {
  need(place != nullptr, Code::InvalidValue, "a null pointer");
  return *place;
}

}  // namespace ptxopt::emulate
