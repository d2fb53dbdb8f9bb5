// What the programs have in common: a call of CUDA that fails, or a result that is wrong, ends them.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

inline void needCuda(cudaError_t error, const char* call, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorName(error));
  std::exit(3);
}
inline void needTrue(bool holds, const char* what, int line) {
  if (holds) return;
  std::fprintf(stderr, "line %d: wrong: %s\n", line, what);
  std::exit(4);
}
#define CUDA(call) needCuda(call, #call, __LINE__)
#define EXPECT(condition) needTrue(condition, #condition, __LINE__)
#define LAUNCHED() CUDA(cudaGetLastError())

inline int passed() {
  CUDA(cudaDeviceSynchronize());
  std::puts("passed");
  return 0;
}

// The same numbers each time.
struct Numbers {
  unsigned state = 12345;
  unsigned next() { return state = state * 1664525u + 1013904223u; }
  unsigned below(unsigned n) { return (next() >> 8) % n; }
  float unit() { return static_cast<float>(next() >> 8) / 16777216.0f; }
};

template <typename T>
T* onDevice(const std::vector<T>& values) {
  T* p = nullptr;
  CUDA(cudaMalloc(&p, values.size() * sizeof(T)));
  CUDA(cudaMemcpy(p, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}
template <typename T>
T* zeros(size_t count) {
  return onDevice(std::vector<T>(count));
}
template <typename T>
std::vector<T> onHost(const T* p, size_t count) {
  std::vector<T> values(count);
  CUDA(cudaMemcpy(values.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}
