// The functions of the CUDA driver API that tests/gpu calls, served by Device. Names and numbers are those of cuda.h.
#include <cstdio>
#include <cstring>
#include <memory>

#include "device.h"

using stand_in::Device;
using stand_in::Error;
using stand_in::Event;
using stand_in::Function;
using stand_in::LoadedModule;
using stand_in::Result;

namespace {

std::unique_ptr<Device> device;
bool isCurrent = false;  // the context
constexpr int kContext = 1;

void need(bool condition, Result result, const char* why) {
  if (!condition) throw Error{result, why};
}

template <typename F>
int answer(const char* call, F&& body) {
  try {
    need(device != nullptr, Result::NotInitialized, "cuInit was not called");
    body();
    return 0;
  } catch (const Error& e) {
    if (device == nullptr || device->settings().log)
      std::fprintf(stderr, "stand-in: %s: %s\n", call, e.why.c_str());
    return static_cast<int>(e.result);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "stand-in: %s: %s\n", call, e.what());
    return static_cast<int>(Result::LaunchFailed);
  }
}

// What works in a context only, and only as long as no kernel has failed.
template <typename F>
int inContext(const char* call, F&& body) {
  return answer(call, [&] {
    need(isCurrent, Result::InvalidContext, "no context is current");
    device->needUnharmed();
    body();
  });
}

template <typename T>
T& out(T* place) {
  need(place != nullptr, Result::InvalidValue, "a null pointer");
  return *place;
}

void needDevice(int number) {
  need(number >= 0 && number < device->settings().devices, Result::InvalidDevice, "there is no such device");
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// ---- the device and its context ----

int cuInit(unsigned flags) {
  if (device == nullptr) device = std::make_unique<Device>(stand_in::Settings::fromEnvironment());
  return answer("cuInit", [&] {
    need(flags == 0, Result::InvalidValue, "flags");
    need(device->settings().devices > 0, Result::NoDevice, "PTXOPT_STAND_IN_DEVICES is 0");
  });
}

int cuDriverGetVersion(int* version) {
  return answer("cuDriverGetVersion", [&] { out(version) = 13000; });
}

int cuDeviceGetCount(int* count) {
  return answer("cuDeviceGetCount", [&] { out(count) = device->settings().devices; });
}

int cuDeviceGet(int* handle, int number) {
  return answer("cuDeviceGet", [&] {
    needDevice(number);
    out(handle) = number;
  });
}

int cuDeviceGetName(char* name, int size, int handle) {
  return answer("cuDeviceGetName", [&] {
    needDevice(handle);
    need(size > 0, Result::InvalidValue, "no place for the name");
    std::snprintf(&out(name), static_cast<std::size_t>(size), "the interpreter of ptxopt");
  });
}

int cuDeviceGetAttribute(int* value, int attribute, int handle) {
  return answer("cuDeviceGetAttribute", [&] {
    needDevice(handle);
    switch (attribute) {
      case 13: out(value) = 1000; break;  // kHz: a warp instruction takes a microsecond
      case 16: out(value) = 1; break;     // multiprocessors
      case 75: out(value) = device->settings().major; break;
      case 76: out(value) = device->settings().minor; break;
      default: throw Error{Result::InvalidValue, "an attribute that the stand-in does not have"};
    }
  });
}

int cuDevicePrimaryCtxRetain(const void** context, int handle) {
  return answer("cuDevicePrimaryCtxRetain", [&] {
    needDevice(handle);
    out(context) = &kContext;
  });
}

int cuDevicePrimaryCtxRelease_v2(int handle) {
  return answer("cuDevicePrimaryCtxRelease", [&] {
    needDevice(handle);
    isCurrent = false;
  });
}

int cuCtxSetCurrent(const void* context) {
  return answer("cuCtxSetCurrent", [&] {
    need(context == nullptr || context == &kContext, Result::InvalidContext, "no such context");
    isCurrent = context != nullptr;
  });
}

// ---- memory ----

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return inContext("cuMemGetInfo", [&] {
    out(free) = device->freeBytes();
    out(total) = Device::kMemory;
  });
}

int cuMemAlloc_v2(uint64_t* address, std::size_t size) {
  return inContext("cuMemAlloc", [&] { out(address) = device->allocate(size); });
}

int cuMemFree_v2(uint64_t address) {
  return inContext("cuMemFree", [&] { device->release(address); });
}

int cuMemcpyHtoD_v2(uint64_t to, const void* from, std::size_t size) {
  return inContext("cuMemcpyHtoD", [&] {
    need(from != nullptr, Result::InvalidValue, "a null pointer");
    std::memcpy(device->bytes(to, size), from, size);
  });
}

int cuMemcpyDtoH_v2(void* to, uint64_t from, std::size_t size) {
  return inContext("cuMemcpyDtoH", [&] {
    need(to != nullptr, Result::InvalidValue, "a null pointer");
    std::memcpy(to, device->bytes(from, size), size);
  });
}

int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, std::size_t size) {
  return inContext("cuMemcpyDtoD", [&] { std::memmove(device->bytes(to, size), device->bytes(from, size), size); });
}

int cuMemsetD8_v2(uint64_t to, unsigned char byte, std::size_t size) {
  return inContext("cuMemsetD8", [&] { std::memset(device->bytes(to, size), byte, size); });
}

// ---- modules ----

int cuModuleLoadData(LoadedModule** module, const char* image) {
  return inContext("cuModuleLoadData", [&] {
    need(image != nullptr, Result::InvalidValue, "a null pointer");
    out(module) = device->load(image);
  });
}

int cuModuleUnload(LoadedModule* module) {
  return inContext("cuModuleUnload", [&] { device->unload(module); });
}

int cuModuleGetFunction(Function** function, LoadedModule* module, const char* name) {
  return inContext("cuModuleGetFunction", [&] {
    need(name != nullptr, Result::InvalidValue, "a null pointer");
    out(function) = device->function(module, name);
  });
}

int cuFuncGetAttribute(int* value, int attribute, Function* function) {
  return inContext("cuFuncGetAttribute", [&] {
    const Function& f = device->known(function);
    switch (attribute) {
      case 0: out(value) = 1024; break;  // threads of a block
      case 1: out(value) = static_cast<int>(f.program().staticShared()); break;
      case 2:                         // constants,
      case 3:                         // local memory and
      case 4: out(value) = 0; break;  // registers are not known of PTX
      default: throw Error{Result::InvalidValue, "an attribute that the stand-in does not have"};
    }
  });
}

int cuFuncSetAttribute(Function* function, int attribute, int value) {
  return inContext("cuFuncSetAttribute", [&] {
    need(attribute == 8 && value >= 0, Result::InvalidValue, "only the dynamic shared memory can be set");
    device->known(function).dynamicShared = static_cast<uint32_t>(value);
  });
}

int cuFuncGetParamInfo(Function* function, std::size_t index, std::size_t* offset, std::size_t* size) {
  return inContext("cuFuncGetParamInfo", [&] {
    const auto& parameters = device->known(function).program().parameters();
    need(index < parameters.size(), Result::InvalidValue, "there is no such parameter");
    out(offset) = parameters[index].place.offset;
    out(size) = parameters[index].place.bytes;
  });
}

// ---- launches and events ----

int cuLaunchKernel(Function* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                   unsigned blockY, unsigned blockZ, unsigned shared, void* stream, void** parameters,
                   void** extra) {
  return inContext("cuLaunchKernel", [&] {
    need(stream == nullptr && extra == nullptr, Result::NotSupported, "streams, and parameters in one piece");
    device->launch(function, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, shared, {}}, parameters);
  });
}

// CUlaunchConfig and CUlaunchAttribute; of attributes it takes the shape of clusters.
struct LaunchAttribute {
  unsigned id, padding, shape[3];
  unsigned char unused[52];
};
struct LaunchConfig {
  unsigned grid[3], block[3], shared;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned count;
};
int cuLaunchKernelEx(const LaunchConfig* config, Function* function, void** parameters, void** extra) {
  return inContext("cuLaunchKernelEx", [&] {
    need(config != nullptr, Result::InvalidValue, "a null pointer");
    const auto shapeOf = [](const unsigned* s) { return ptxopt::exec::Dim3{s[0], s[1], s[2]}; };
    need(config->stream == nullptr && extra == nullptr, Result::NotSupported,
         "streams, and parameters in one piece");
    Device::Shape shape{shapeOf(config->grid), shapeOf(config->block), config->shared, {}};
    for (unsigned i = 0; i < config->count; ++i) {
      need(config->attributes[i].id == 4, Result::NotSupported, "an attribute that is no shape of clusters");
      shape.cluster = shapeOf(config->attributes[i].shape);
    }
    device->launch(function, shape, parameters);
  });
}

int cuStreamSynchronize(void* stream) {
  return inContext("cuStreamSynchronize",
                   [&] { need(stream == nullptr, Result::InvalidHandle, "no such stream"); });
}

int cuEventCreate(Event** event, unsigned) {
  return inContext("cuEventCreate", [&] { out(event) = device->makeEvent(); });
}

int cuEventRecord(Event* event, void* stream) {
  return inContext("cuEventRecord", [&] {
    need(stream == nullptr, Result::InvalidHandle, "no such stream");
    device->known(event) = {true, device->now()};
  });
}

int cuEventSynchronize(Event* event) {
  return inContext("cuEventSynchronize", [&] { device->known(event); });
}

int cuEventElapsedTime(float* milliseconds, Event* from, Event* to) {
  return inContext("cuEventElapsedTime", [&] {
    out(milliseconds) = static_cast<float>(device->between(device->known(from), device->known(to)));
  });
}

int cuEventDestroy_v2(Event* event) {
  return inContext("cuEventDestroy", [&] { device->destroy(event); });
}

// ---- errors ----

int cuGetErrorName(int result, const char** name) {
  *name = stand_in::nameOf(result);
  return *name == nullptr ? static_cast<int>(Result::InvalidValue) : 0;
}

int cuGetErrorString(int result, const char** text) {
  *text = stand_in::textOf(result);
  return *text == nullptr ? static_cast<int>(Result::InvalidValue) : 0;
}

}  // extern "C"
#pragma GCC visibility pop
