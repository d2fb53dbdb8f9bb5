// What the programs of these tests share: calls of the driver that have to succeed, and two kernels.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuMemAlloc_v2(uint64_t*, size_t);
int cuMemcpyHtoD_v2(uint64_t, const void*, size_t);
int cuMemcpyDtoH_v2(void*, uint64_t, size_t);
int cuModuleLoadDataEx(void**, const void*, unsigned, int*, void**);
int cuModuleGetFunction(void**, void*, const char*);
int cuLibraryLoadData(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);
int cuLibraryEnumerateKernels(void**, unsigned, void*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);
int cuStreamCreate(void**, unsigned);
int cuStreamSynchronize(void*);
}

#define MUST(call) \
  if (const int result = (call); result != 0) std::printf("%s: %d\n", #call, result), std::exit(2)

constexpr unsigned kThreads = 32, kBytes = 4 * kThreads;

// `name`: each of 32 words is added n to, or multiplied by it.
inline std::string kernel(const std::string& name, const std::string& operation) {
  return ".visible .entry " + name + R"((.param .u64 p, .param .u32 n) {
  .reg .b64 %rd<5>; .reg .b32 %r<5>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  )" + operation +
         R"( %r3, %r3, %r1;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";
}
inline const std::string kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

// 32 words on the device: 0, 1, 2, ...
inline uint64_t words() {
  void* context = nullptr;
  MUST(cuInit(0));
  MUST(cuDevicePrimaryCtxRetain(&context, 0));
  MUST(cuCtxSetCurrent(context));
  uint64_t data = 0;
  std::vector<uint32_t> values(kThreads);
  for (unsigned i = 0; i < kThreads; ++i) values[i] = i;
  MUST(cuMemAlloc_v2(&data, kBytes));
  MUST(cuMemcpyHtoD_v2(data, values.data(), kBytes));
  return data;
}

// Whether word i is i * factor + sum: what the program ends with.
inline int ends(uint64_t data, uint32_t factor, uint32_t sum) {
  std::vector<uint32_t> values(kThreads);
  MUST(cuMemcpyDtoH_v2(values.data(), data, kBytes));
  for (unsigned i = 0; i < kThreads; ++i)
    if (values[i] != i * factor + sum)
      return std::printf("word %u is %u, not %u\n", i, values[i], i * factor + sum), 1;
  std::puts("passed");
  return 0;
}
