// Starting, the device, and its context.
#include <dlfcn.h>
#include <link.h>
#include <cstdio>
#include <cstring>

#include "emulate/driver/driver.h"
#include "emulate/properties.h"

using namespace ptxopt::emulate;

namespace {

constexpr int kDriverVersion = 13000;
int context = 0;  // its address is the context
void* const kContext = &context;
thread_local void* current = nullptr;  // whether a program made it current, for programs that ask

int makeCurrent(const char* call, void** made) {
  return answerDriver(call, [&] { out(made) = current = kContext; });
}

}  // namespace

CUDA_DRIVER_API int cuInit(unsigned flags) {
  return answerDriver(__func__, [&] {
    need(flags == 0, Code::InvalidValue, "flags");
    need(State::get().settings.devices > 0, Code::NoDevice, "the settings say that there is none");
  });
}
CUDA_DRIVER_API int cuDriverGetVersion(int* version) {
  return answerDriver(__func__, [&] { out(version) = kDriverVersion; });
}
CUDA_DRIVER_API int cuDeviceGetCount(int* count) {
  return answerDriver(__func__, [&] { out(count) = 1; });
}
CUDA_DRIVER_API int cuDeviceGet(int* device, int number) {
  return answerDriver(__func__, [&] {
    needDevice(number);
    out(device) = 0;
  });
}
CUDA_DRIVER_API int cuDeviceGetName(char* name, int size, int device) {
  return answerDriver(__func__, [&] {
    needDevice(device);
    need(size > 0, Code::InvalidValue, "no place for the name");
    std::snprintf(&out(name), static_cast<size_t>(size), "%s", kDeviceName);
  });
}
CUDA_DRIVER_API int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  return answerDriver(__func__, [&] {
    needDevice(device);
    std::memcpy(&out(uuid), "ptxopt emulation", 16);
  });
}
CUDA_DRIVER_API int cuDeviceGetUuid(unsigned char* uuid, int device) { return cuDeviceGetUuid_v2(uuid, device); }
CUDA_DRIVER_API int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  return answerDriver(__func__, [&] {
    needDevice(device);
    out(bytes) = State::get().memory.total();
  });
}
CUDA_DRIVER_API int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return answerDriver(__func__, [&] {
    needDevice(device);
    State& s = State::get();
    constexpr int kClock = 13, kClockOfCounting = 1000;  // kHz: an instruction takes a microsecond
    out(value) = s.settings.countsTime && attribute == kClock ? kClockOfCounting
                                                              : deviceAttribute(attribute, s.architecture());
  });
}
CUDA_DRIVER_API int cuDeviceComputeCapability(int* major, int* minor, int device) {
  return answerDriver(__func__, [&] {
    needDevice(device);
    out(major) = static_cast<int>(State::get().architecture() / 10);
    out(minor) = static_cast<int>(State::get().architecture() % 10);
  });
}
CUDA_DRIVER_API int cuDeviceGetPCIBusId(char* text, int size, int device) {
  return answerDriver(__func__, [&] {
    needDevice(device);
    need(size > 0, Code::InvalidValue, "no place for the text");
    std::snprintf(&out(text), static_cast<size_t>(size), "0000:00:00.0");
  });
}
CUDA_DRIVER_API int cuDeviceCanAccessPeer(int* can, int, int) {
  return answerDriver(__func__, [&] { out(can) = 0; });
}

// ---- the context ----

CUDA_DRIVER_API int cuCtxCreate_v2(void** made, unsigned, int) { return makeCurrent(__func__, made); }
CUDA_DRIVER_API int cuCtxCreate_v4(void** made, void*, unsigned, int) { return makeCurrent(__func__, made); }
CUDA_DRIVER_API int cuCtxDestroy_v2(void*) {
  return answerDriver(__func__, [] { current = nullptr; });
}
CUDA_DRIVER_API int cuDevicePrimaryCtxRetain(void** made, int device) {
  return answerDriver(__func__, [&] {
    needDevice(device);
    out(made) = kContext;
  });
}
CUDA_DRIVER_API int cuDevicePrimaryCtxRelease_v2(int device) {
  return answerDriver(__func__, [&] { needDevice(device); });
}
CUDA_DRIVER_API int cuDevicePrimaryCtxReset_v2(int device) {
  return answerDriver(__func__, [&] { needDevice(device); });
}
CUDA_DRIVER_API int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned) {
  return answerDriver(__func__, [&] { needDevice(device); });
}
CUDA_DRIVER_API int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* isActive) {
  return answerDriver(__func__, [&] {
    needDevice(device);
    out(flags) = 0;
    out(isActive) = 1;
  });
}
CUDA_DRIVER_API int cuCtxSetCurrent(void* c) {
  return answerDriver(__func__, [&] { current = c; });
}
CUDA_DRIVER_API int cuCtxGetCurrent(void** c) {
  return answerDriver(__func__, [&] { out(c) = current; });
}
CUDA_DRIVER_API int cuCtxPushCurrent_v2(void* c) {
  return answerDriver(__func__, [&] { current = c; });
}
CUDA_DRIVER_API int cuCtxPopCurrent_v2(void** c) {
  return answerDriver(__func__, [&] {
    if (c != nullptr) *c = current;
    current = nullptr;
  });
}
CUDA_DRIVER_API int cuCtxGetDevice(int* device) {
  return answerDriver(__func__, [&] { out(device) = 0; });
}
CUDA_DRIVER_API int cuCtxGetFlags(unsigned* flags) {
  return answerDriver(__func__, [&] { out(flags) = 0; });
}
CUDA_DRIVER_API int cuCtxGetApiVersion(void*, unsigned* version) {
  return answerDriver(__func__, [&] { out(version) = kDriverVersion; });
}
CUDA_DRIVER_API int cuCtxSynchronize() {
  return answerDriver(__func__, [] {});
}
CUDA_DRIVER_API int cuCtxSetCacheConfig(int) {
  return answerDriver(__func__, [] {});
}
extern "C" int cudaDeviceGetLimit(size_t* value, int limit);
extern "C" int cudaDeviceSetLimit(int limit, size_t value);
CUDA_DRIVER_API int cuCtxGetLimit(size_t* value, int limit) {
  return answerDriver(__func__, [&] {
    const int error = cudaDeviceGetLimit(value, limit);
    if (error != 0) throw Failure{static_cast<Code>(error), "no such limit"};
  });
}
CUDA_DRIVER_API int cuCtxSetLimit(int limit, size_t value) {
  return answerDriver(__func__, [&] {
    const int error = cudaDeviceSetLimit(limit, value);
    if (error != 0) throw Failure{static_cast<Code>(error), "the limit is not taken"};
  });
}
CUDA_DRIVER_API int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return answerDriver(__func__, [&] {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
  });
}

// Tables of functions without names, which NVIDIA's libraries ask for. NVRTC reads one without looking whether there is
// such a call at all, and does without where the call fails.
CUDA_DRIVER_API int cuGetExportTable(const void** table, const void*) {
  return answerDriver(__func__, [&] {
    out(table) = nullptr;
    throw Failure{Code::NotSupported, "the emulated driver has no tables of functions without names"};
  });
}

// ---- functions by name: the newest of what headers of CUDA 12 and 13 call so ----

CUDA_DRIVER_API int cuGetProcAddress_v2(const char* name, void** function, int, uint64_t, int* status) {
  return answerDriver(__func__, [&] {
    void* found = nullptr;
    Dl_info here;
    // Ours alone: the program may have functions of these names.
    void* const self = dladdr(reinterpret_cast<void*>(&cuInit), &here) != 0
                           ? dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                           : nullptr;
    // The one whose newest version has a name of its own.
    const std::string base =
        std::string_view(&out(name)) == "cuGraphInstantiate" ? "cuGraphInstantiateWithFlags" : name;
    for (const char* suffix : {"_v4", "_v3", "_v2", ""})
      if (self != nullptr && found == nullptr) found = dlsym(self, (base + suffix).c_str());
    if (self != nullptr) dlclose(self);
    out(function) = found;
    constexpr int kFound = 0, kNotFound = 1;
    if (status != nullptr) *status = found != nullptr ? kFound : kNotFound;
    if (found == nullptr)
      throw Failure{Code::SymbolNotFound, std::string("the emulated driver does not have ") + name};
  });
}

// The runtime's way to these functions.
CUDA_API(cudaGetDriverEntryPoint)
int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags, int* status) {
  return answer(__func__, [&] {
    int found = 0;
    const int result = cuGetProcAddress_v2(name, function, 0, flags, &found);
    if (status != nullptr) *status = found;
    if (result != 0) throw Failure{Code::SymbolNotFound, "the emulated driver does not have this function"};
  });
}
CUDA_ALSO(cudaGetDriverEntryPoint, cudaGetDriverEntryPoint_ptsz)
CUDA_API(cudaGetDriverEntryPointByVersion)
int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long flags,
                                     int* status) {
  return cudaGetDriverEntryPoint(name, function, flags, status);
}
CUDA_ALSO(cudaGetDriverEntryPointByVersion, cudaGetDriverEntryPointByVersion_ptsz)
