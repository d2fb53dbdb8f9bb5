// A program of the driver API, for tests of the library that captures it:  program WAY [END]
//
// WAY is how it finds the driver: `linked`, by dlsym (`asked`), or by cuGetProcAddress (`entries`). With END `killed` it ends by
// a signal. Kernels come from PTX and from a fat binary; their arguments in both forms; memory is reached from parameters,
// from other memory, from a variable, or not at all.
#include <dlfcn.h>
#include <signal.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuMemAlloc_v2(uint64_t*, size_t);
int cuMemFree_v2(uint64_t);
int cuMemHostAlloc(void**, size_t, unsigned);
int cuMemcpyHtoD_v2(uint64_t, const void*, size_t);
int cuMemcpyDtoH_v2(void*, uint64_t, size_t);
int cuModuleLoadDataEx(void**, const void*, unsigned, int*, void**);
int cuModuleGetFunction(void**, void*, const char*);
int cuLibraryLoadData(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);
int cuLibraryGetKernel(void**, void*, const char*);
int cuKernelGetFunction(void**, void*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);
int cuLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                              void**);
int cuCtxSynchronize();
int cuGetProcAddress_v2(const char*, void**, int, uint64_t, int*);
}

namespace {

constexpr unsigned kThreads = 32, kBytes = 4 * kThreads;
const char kHead[] = ".version 8.0\n.target sm_80\n.address_size 64\n";
const char kScale[] = R"(
.global .align 8 .u64 last;
.visible .entry scale(.param .u64 p, .param .u32 f) {
  .reg .b64 %rd<5>; .reg .b32 %r<5>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [f];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  mul.lo.u32 %r3, %r3, %r1;
  st.global.u32 [%rd3], %r3;
  st.global.u64 [last], %rd1;
  ret;
}
.visible .entry next() {
  .reg .b64 %rd<5>; .reg .b32 %r<5>;
  // The first word of what a cooperative grid gets for its barrier is its size: 8 here.
  mov.u32 %r1, %envreg1;
  mov.u32 %r2, %envreg2;
  mov.b64 %rd4, {%r2, %r1};
  ld.global.u32 %r4, [%rd4];
  sub.u32 %r4, %r4, 7;
  ld.global.u64 %rd1, [last];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  add.u32 %r3, %r3, %r4;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";
const char kFollow[] = R"(
.visible .entry follow(.param .u64 p, .param .u32 n) {
  .reg .b64 %rd<6>; .reg .b32 %r<5>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  ld.global.u64 %rd2, [%rd1 + 8];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.u32 %r3, [%rd4];
  add.u32 %r3, %r3, %r1;
  st.global.u32 [%rd4], %r3;
  ret;
}
)";

std::string way;
void* library;

void* find(const char* name, void* linked) {
  if (way == "linked") return linked;
  if (way == "asked") return dlsym(library, name);
  static auto* const ask = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(dlsym(library, "cuGetProcAddress_v2"));
  std::string plain = name;
  if (plain.ends_with("_v2")) plain.resize(plain.size() - 3);
  void* function = nullptr;
  int status = 0;
  if (ask(plain.c_str(), &function, 12000, 0, &status) != 0) std::printf("there is no %s\n", name), std::exit(3);
  return function;
}

#define CALL(name, ...)                                                                                       \
  do {                                                                                                        \
    static auto* const f = reinterpret_cast<decltype(&name)>(find(#name, reinterpret_cast<void*>(name)));     \
    if (const int result = f(__VA_ARGS__); result != 0) std::printf("%s: %d\n", #name, result), std::exit(2); \
  } while (false)

// A container with one entry, PTX for sm_80.
std::vector<char> fatBinary(std::string ptx) {
  ptx.push_back('\0');
  while (ptx.size() % 8 != 0) ptx.push_back('\0');
  std::vector<char> bytes(16 + 64);
  const auto put = [&](std::size_t at, uint64_t value, std::size_t size) { std::memcpy(&bytes[at], &value, size); };
  put(0, 0xBA55ED50, 4), put(4, 1, 2), put(6, 16, 2), put(8, 64 + ptx.size(), 8);
  put(16, 1, 2), put(18, 0x101, 2), put(20, 64, 4), put(24, ptx.size(), 8), put(44, 80, 4);
  bytes.insert(bytes.end(), ptx.begin(), ptx.end());
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  way = argc > 1 ? argv[1] : "linked";
  if (way != "linked") library = dlopen("libcuda.so.1", RTLD_NOW);
  // Who asks for the next one gets what comes after this program, whoever stands in front of dlsym.
  if (dlsym(RTLD_NEXT, "dlsym") != reinterpret_cast<void*>(&dlsym)) return std::puts("another dlsym"), 4;

  void *context = nullptr, *module = nullptr, *other = nullptr, *scale = nullptr, *next = nullptr,
       *kernel = nullptr, *follow = nullptr, *host = nullptr;
  CALL(cuInit, 0);
  CALL(cuDevicePrimaryCtxRetain, &context, 0);
  CALL(cuCtxSetCurrent, context);
  CALL(cuModuleLoadDataEx, &module, (std::string(kHead) + kScale).c_str(), 0, nullptr, nullptr);
  CALL(cuModuleGetFunction, &scale, module, "scale");
  CALL(cuModuleGetFunction, &next, module, "next");
  {
    const std::vector<char> fat = fatBinary(std::string(kHead) + kFollow);  // gone once it is loaded
    CALL(cuLibraryLoadData, &other, fat.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  }
  CALL(cuLibraryGetKernel, &kernel, other, "follow");
  CALL(cuKernelGetFunction, &follow, kernel);

  uint64_t x = 0, list = 0, unused = 0, freed = 0;
  CALL(cuMemAlloc_v2, &x, kBytes);
  CALL(cuMemAlloc_v2, &list, 16);
  CALL(cuMemAlloc_v2, &unused, 1 << 20);
  CALL(cuMemAlloc_v2, &freed, 64);
  CALL(cuMemFree_v2, freed);
  CALL(cuMemHostAlloc, &host, kBytes, 0);
  std::vector<uint32_t> values(kThreads);
  for (unsigned i = 0; i < kThreads; ++i) values[i] = i;
  CALL(cuMemcpyHtoD_v2, x, values.data(), kBytes);
  std::memcpy(host, values.data(), kBytes);
  const uint64_t links[] = {freed, reinterpret_cast<uint64_t>(host)};
  CALL(cuMemcpyHtoD_v2, list, links, sizeof links);

  uint32_t factor = 3, sum = 7;
  void* arguments[] = {&x, &factor};
  CALL(cuLaunchKernel, scale, 1, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr);
  CALL(cuLaunchCooperativeKernel, next, 1, 1, 1, kThreads, 1, 1, 0, nullptr, nullptr);
  struct {
    uint64_t list;
    uint32_t sum;
  } piece{list, sum};
  size_t size = 12;
  void* extra[] = {reinterpret_cast<void*>(1), &piece, reinterpret_cast<void*>(2), &size, nullptr};
  CALL(cuLaunchKernel, follow, 1, 1, 1, kThreads, 1, 1, 0, nullptr, nullptr, extra);
  CALL(cuCtxSynchronize);
  CALL(cuMemcpyDtoH_v2, values.data(), x, kBytes);
  for (unsigned i = 0; i < kThreads; ++i)
    if (values[i] != 3 * i + 1 || static_cast<uint32_t*>(host)[i] != i + 7) return std::puts("wrong"), 1;
  std::puts("passed");
  std::fflush(stdout);
  if (argc > 2 && std::string(argv[2]) == "killed") raise(SIGKILL);
  return 0;
}
