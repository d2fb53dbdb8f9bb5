// The driver API, found at run time as frameworks find it: a module from PTX, its kernels and variables, memory, streams and
// events, launches with arguments in both forms, linking; together with the runtime, whose memory it shares.
#include "program.h"

#include <cuda.h>
#include <dlfcn.h>

#include <cstring>
#include <string>
#include <vector>

namespace {

const char* const kPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 calls;
.visible .entry scale(.param .u64 s_p, .param .f32 s_f, .param .u32 s_n) {
  .reg .b64 %rd<5>; .reg .b32 %r<7>; .reg .f32 %f<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [s_p];
  ld.param.f32 %f1, [s_f];
  ld.param.u32 %r1, [s_n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 ret;
  rem.u32 %r5, %r5, 1000;
  mul.wide.u32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  mul.rn.f32 %f3, %f2, %f1;
  st.global.f32 [%rd3], %f3;
  atom.global.add.u32 %r6, [calls], 1;
  ret;
}
)";

void* library;

void fail(const char* what) { needTrue(false, what, 0); }

template <typename F>
F* find(const char* name) {
  void* const function = dlsym(library, name);
  if (function == nullptr) fail("the driver has no such function");
  return reinterpret_cast<F*>(function);
}
#define DRIVER(name) find<decltype(name)>(#name)
#define DRIVER_AS(name, as) find<decltype(name)>(as)

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "?";
  DRIVER(cuGetErrorName)(result, &name);
  std::printf("%s: %s\n", what, name);
  fail("a driver call failed");
}

}  // namespace

int main() {
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) fail("there is no driver");
  check(DRIVER(cuInit)(0), "cuInit");
  CUdevice device;
  CUcontext context;
  check(DRIVER(cuDeviceGet)(&device, 0), "cuDeviceGet");
  check(DRIVER(cuDevicePrimaryCtxRetain)(&context, device), "cuDevicePrimaryCtxRetain");
  check(DRIVER(cuCtxSetCurrent)(context), "cuCtxSetCurrent");
  int threads = 0;
  check(DRIVER(cuDeviceGetAttribute)(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device), "attribute");
  if (threads != 1024) fail("threads of a block");

  CUlinkState link;
  void* image;
  size_t size;
  check(DRIVER_AS(cuLinkCreate, "cuLinkCreate_v2")(0, nullptr, nullptr, &link), "cuLinkCreate");
  check(DRIVER_AS(cuLinkAddData, "cuLinkAddData_v2")(link, CU_JIT_INPUT_PTX, const_cast<char*>(kPtx), std::strlen(kPtx) + 1,
                                                    "k.ptx", 0, nullptr, nullptr),
        "cuLinkAddData");
  check(DRIVER(cuLinkComplete)(link, &image, &size), "cuLinkComplete");
  const CUuuid unknown{};
  const void* table = nullptr;
  if (DRIVER(cuGetExportTable)(&table, &unknown) == CUDA_SUCCESS) fail("a table of functions that is not there");
  CUmodule module;
  CUfunction scale, none;
  check(DRIVER(cuModuleLoadData)(&module, image), "cuModuleLoadData");
  check(DRIVER(cuLinkDestroy)(link), "cuLinkDestroy");
  check(DRIVER(cuModuleGetFunction)(&scale, module, "scale"), "cuModuleGetFunction");
  if (DRIVER(cuModuleGetFunction)(&none, module, "none") != CUDA_ERROR_NOT_FOUND) fail("a kernel that is not there");
  CUdeviceptr calls;
  check(DRIVER_AS(cuModuleGetGlobal, "cuModuleGetGlobal_v2")(&calls, &size, module, "calls"), "cuModuleGetGlobal");
  if (size != 4) fail("the size of a variable");

  const unsigned n = 1000;
  std::vector<float> host(n);
  for (unsigned i = 0; i < n; ++i) host[i] = float(i);
  CUdeviceptr data;
  check(DRIVER_AS(cuMemAlloc, "cuMemAlloc_v2")(&data, n * sizeof(float)), "cuMemAlloc");
  check(DRIVER_AS(cuMemcpyHtoD, "cuMemcpyHtoD_v2")(data, host.data(), n * sizeof(float)), "cuMemcpyHtoD");
  CUstream stream;
  CUevent before, after;
  check(DRIVER(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  check(DRIVER(cuEventCreate)(&before, CU_EVENT_DEFAULT), "cuEventCreate");
  check(DRIVER(cuEventCreate)(&after, CU_EVENT_DEFAULT), "cuEventCreate");
  check(DRIVER(cuEventRecord)(before, stream), "cuEventRecord");
  float factor = 3;
  unsigned count = n;
  void* arguments[] = {&data, &factor, &count};
  check(DRIVER(cuLaunchKernel)(scale, 4, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr), "cuLaunchKernel");
  struct {
    CUdeviceptr data;
    float factor;
    unsigned count;
  } packed = {data, 0.5f, n};
  size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  check(DRIVER(cuLaunchKernel)(scale, 4, 1, 1, 256, 1, 1, 0, stream, nullptr, extra), "cuLaunchKernel with extra");
  check(DRIVER(cuEventRecord)(after, stream), "cuEventRecord");
  check(DRIVER(cuStreamSynchronize)(stream), "cuStreamSynchronize");
  float milliseconds = -1;
  check(DRIVER(cuEventElapsedTime)(&milliseconds, before, after), "cuEventElapsedTime");
  if (milliseconds < 0) fail("time went backwards");

  // The runtime sees the same memory.
  std::vector<float> back(n);
  if (cudaMemcpy(back.data(), reinterpret_cast<void*>(data), n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess)
    fail("the runtime does not see the driver's memory");
  for (unsigned i = 0; i < n; ++i)
    if (back[i] != 1.5f * float(i)) fail("a wrong value");
  unsigned called = 0;
  check(DRIVER_AS(cuMemcpyDtoH, "cuMemcpyDtoH_v2")(&called, calls, sizeof called), "cuMemcpyDtoH");
  if (called != 2 * n) fail("a wrong count");

  // Two copies of a module have variables of their own.
  CUmodule second;
  CUdeviceptr others;
  check(DRIVER(cuModuleLoadData)(&second, kPtx), "cuModuleLoadData");
  check(DRIVER_AS(cuModuleGetGlobal, "cuModuleGetGlobal_v2")(&others, nullptr, second, "calls"), "cuModuleGetGlobal");
  check(DRIVER_AS(cuMemcpyDtoH, "cuMemcpyDtoH_v2")(&called, others, sizeof called), "cuMemcpyDtoH");
  if (called != 0 || others == calls) fail("modules share a variable");
  check(DRIVER(cuModuleUnload)(second), "cuModuleUnload");
  if (DRIVER_AS(cuMemcpyDtoH, "cuMemcpyDtoH_v2")(&called, others, sizeof called) != CUDA_ERROR_INVALID_VALUE)
    fail("a variable outlives its module");

  // The same module as a library, whose kernels are asked as functions are.
  CUlibrary asLibrary, owner;
  CUkernel kernel;
  int most = 0;
  size_t offset = 0;
  check(DRIVER(cuLibraryLoadData)(&asLibrary, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0), "cuLibraryLoadData");
  check(DRIVER(cuLibraryGetKernel)(&kernel, asLibrary, "scale"), "cuLibraryGetKernel");
  check(DRIVER(cuKernelGetLibrary)(&owner, kernel), "cuKernelGetLibrary");
  if (owner != asLibrary) fail("the library of a kernel");
  check(DRIVER(cuKernelGetAttribute)(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, device), "cuKernelGetAttribute");
  if (most != 1024) fail("threads of a kernel's blocks");
  check(DRIVER(cuKernelSetAttribute)(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 4096, kernel, device), "cuKernelSetAttribute");
  check(DRIVER(cuKernelGetAttribute)(&most, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, device), "cuKernelGetAttribute");
  if (most != 4096) fail("dynamic shared memory of a kernel");
  check(DRIVER(cuKernelSetCacheConfig)(kernel, CU_FUNC_CACHE_PREFER_L1, device), "cuKernelSetCacheConfig");
  check(DRIVER(cuKernelGetParamInfo)(kernel, 2, &offset, &size), "cuKernelGetParamInfo");
  if (offset != 12 || size != 4) fail("the third parameter");
  if (DRIVER(cuKernelGetParamInfo)(kernel, 3, &offset, &size) != CUDA_ERROR_INVALID_VALUE) fail("a fourth parameter");
  check(DRIVER(cuLibraryUnload)(asLibrary), "cuLibraryUnload");

  size_t limit = 0;
  check(DRIVER(cuCtxSetLimit)(CU_LIMIT_STACK_SIZE, 2048), "cuCtxSetLimit");
  check(DRIVER(cuCtxGetLimit)(&limit, CU_LIMIT_STACK_SIZE), "cuCtxGetLimit");
  if (limit != 2048) fail("a limit that was set");
  if (DRIVER(cuCtxSetLimit)(CU_LIMIT_MAX, 1) != CUDA_ERROR_UNSUPPORTED_LIMIT) fail("a limit that is not there");

  // Programs that find nvJitLink without functions link by the driver.
  void* const linker = dlopen("libnvJitLink.so.13", RTLD_NOW | RTLD_NOLOAD);
  if (linker == nullptr || dlsym(linker, "__nvJitLinkCreate_13_0") != nullptr) fail("a linker of machine code");

  if (DRIVER(cuModuleLoadData)(&second, ".version 7.0\n.target sm_70\nnothing") != CUDA_ERROR_INVALID_PTX)
    fail("a text that is no PTX");
  const char* text = nullptr;
  if (DRIVER(cuGetErrorString)(CUDA_ERROR_ILLEGAL_ADDRESS, &text) != CUDA_SUCCESS || text == nullptr) fail("no text");
  check(DRIVER_AS(cuMemFree, "cuMemFree_v2")(data), "cuMemFree");
  check(DRIVER_AS(cuStreamDestroy, "cuStreamDestroy_v2")(stream), "cuStreamDestroy");
  return passed();
}
