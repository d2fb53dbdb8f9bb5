// Devices, versions, errors, limits. There is one device.
#include "emulate/runtime/abi.h"
#include "emulate/runtime/exported.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>

#include "emulate/properties.h"
#include "exec/machine.h"
#include "support/log.h"

using namespace ptxopt::emulate;

namespace {

constexpr int kVersion = 13000;

int attribute(int number) { return deviceAttribute(number, State::get().architecture()); }

// What the layouts of CUDA 12 and 13 have in common.
template <typename P>
void fillProperties(P& p) {
  p = {};
  std::snprintf(p.name, sizeof p.name, "%s", kDeviceName);
  std::memcpy(p.uuid, "ptxopt emulation", sizeof p.uuid);
  p.totalGlobalMem = State::get().memory.total();
  p.sharedMemPerBlock = static_cast<size_t>(attribute(8));
  p.regsPerBlock = attribute(12);
  p.warpSize = attribute(10);
  p.memPitch = static_cast<size_t>(attribute(11));
  p.maxThreadsPerBlock = attribute(1);
  for (int i = 0; i < 3; ++i) p.maxThreadsDim[i] = attribute(2 + i), p.maxGridSize[i] = attribute(5 + i);
  p.totalConstMem = static_cast<size_t>(attribute(9));
  p.major = attribute(75);
  p.minor = attribute(76);
  p.textureAlignment = static_cast<size_t>(attribute(14));
  p.texturePitchAlignment = static_cast<size_t>(attribute(51));
  p.multiProcessorCount = attribute(16);
  p.canMapHostMemory = attribute(19);
  p.maxTexture1D = attribute(21);
  p.maxTexture2D[0] = attribute(22), p.maxTexture2D[1] = attribute(23);
  for (int i = 0; i < 3; ++i) p.maxTexture2DLinear[i] = attribute(70 + i), p.maxTexture3D[i] = attribute(24 + i);
  p.maxTexture1DLayered[0] = attribute(42), p.maxTexture1DLayered[1] = attribute(43);
  for (int i = 0; i < 3; ++i) p.maxTexture2DLayered[i] = attribute(27 + i), p.maxSurface3D[i] = attribute(58 + i);
  p.maxTextureCubemap = attribute(52);
  p.maxSurface1D = attribute(55);
  p.maxSurface2D[0] = attribute(56), p.maxSurface2D[1] = attribute(57);
  p.surfaceAlignment = static_cast<size_t>(attribute(30));
  p.concurrentKernels = attribute(31);
  p.asyncEngineCount = attribute(40);
  p.unifiedAddressing = attribute(41);
  p.memoryBusWidth = attribute(37);
  p.l2CacheSize = attribute(38);
  p.maxThreadsPerMultiProcessor = attribute(39);
  p.streamPrioritiesSupported = attribute(78);
  p.globalL1CacheSupported = attribute(79);
  p.localL1CacheSupported = attribute(80);
  p.sharedMemPerMultiprocessor = static_cast<size_t>(attribute(81));
  p.regsPerMultiprocessor = attribute(82);
  p.managedMemory = attribute(83);
  p.concurrentManagedAccess = attribute(89);
  p.canUseHostPointerForRegisteredMem = attribute(91);
  p.cooperativeLaunch = attribute(95);
  p.sharedMemPerBlockOptin = static_cast<size_t>(attribute(97));
  p.maxBlocksPerMultiProcessor = attribute(106);
  p.reservedSharedMemPerBlock = static_cast<size_t>(attribute(111));
  p.hostRegisterSupported = attribute(99);
  p.memoryPoolsSupported = attribute(115);
  p.clusterLaunch = attribute(120);
}

}  // namespace

// ---- devices ----

CUDA_API(cudaGetDeviceCount) int cudaGetDeviceCount(int* count) {
  return answer(__func__, [&] { out(count) = 1; });
}
CUDA_API(cudaGetDevice) int cudaGetDevice(int* device) {
  return answer(__func__, [&] { out(device) = 0; });
}
CUDA_API(cudaSetDevice) int cudaSetDevice(int device) {
  return answer(__func__, [&] { needDevice(device); });
}
CUDA_API(cudaInitDevice) int cudaInitDevice(int device, unsigned, unsigned) {
  return answer(__func__, [&] { needDevice(device); });
}
CUDA_API(cudaSetValidDevices) int cudaSetValidDevices(const int* devices, int count) {
  return answer(__func__, [&] {
    for (int i = 0; i < count; ++i) needDevice(devices[i]);
  });
}
CUDA_API(cudaChooseDevice) int cudaChooseDevice(int* device, const void*) {
  return answer(__func__, [&] { out(device) = 0; });
}
CUDA_API(cudaGetDeviceFlags) int cudaGetDeviceFlags(unsigned* flags) {
  return answer(__func__, [&] { out(flags) = 0; });
}
CUDA_API(cudaSetDeviceFlags) int cudaSetDeviceFlags(unsigned) {
  return answer(__func__, [] {});
}
CUDA_API(cudaGetDeviceProperties) int cudaGetDeviceProperties(DeviceProperties13* properties, int device) {
  return answer(__func__, [&] {
    needDevice(device);
    fillProperties(out(properties));
  });
}
CUDA_API(cudaGetDeviceProperties_v2) int cudaGetDeviceProperties_v2(DeviceProperties12* properties, int device) {
  return answer(__func__, [&] {
    needDevice(device);
    fillProperties(out(properties));
    properties->clockRate = attribute(13);
    properties->memoryClockRate = attribute(36);
    properties->deviceOverlap = attribute(15);
    properties->singleToDoublePrecisionPerfRatio = attribute(87);
  });
}
CUDA_API(cudaDeviceGetAttribute) int cudaDeviceGetAttribute(int* value, int number, int device) {
  return answer(__func__, [&] {
    needDevice(device);
    out(value) = attribute(number);
  });
}
CUDA_API(cudaDeviceGetPCIBusId) int cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return answer(__func__, [&] {
    needDevice(device);
    need(size > 0, Code::InvalidValue, "no place for the text");
    std::snprintf(&out(text), static_cast<size_t>(size), "0000:00:00.0");
  });
}
CUDA_API(cudaDeviceGetByPCIBusId) int cudaDeviceGetByPCIBusId(int* device, const char*) {
  return answer(__func__, [&] { out(device) = 0; });
}
CUDA_API(cudaDeviceSynchronize) int cudaDeviceSynchronize() {
  return answer(__func__, [] {});
}
CUDA_ALSO(cudaDeviceSynchronize, cudaThreadSynchronize)
// Nothing is taken away: programs reset as the last thing that they do.
CUDA_API(cudaDeviceReset) int cudaDeviceReset() {
  return answerAnyway(__func__, [] { State::get().harm = Code::Success; });
}
CUDA_ALSO(cudaDeviceReset, cudaThreadExit)
CUDA_API(cudaProfilerStart) int cudaProfilerStart() {
  return answer(__func__, [] {});
}
CUDA_API(cudaProfilerStop) int cudaProfilerStop() {
  return answer(__func__, [] {});
}

// ---- versions and errors ----

CUDA_API(cudaRuntimeGetVersion) int cudaRuntimeGetVersion(int* version) {
  return answer(__func__, [&] { out(version) = kVersion; });
}
CUDA_API(cudaDriverGetVersion) int cudaDriverGetVersion(int* version) {
  return answer(__func__, [&] { out(version) = kVersion; });
}
CUDA_API(cudaGetErrorName) const char* cudaGetErrorName(int code) {
  const char* const name = nameOf(code);
  return name != nullptr ? name : "unrecognized error code";
}
CUDA_API(cudaGetErrorString) const char* cudaGetErrorString(int code) {
  const char* const text = textOf(code);
  return text != nullptr ? text : "unrecognized error code";
}
// A fault of a kernel is not taken back by asking.
CUDA_API(cudaGetLastError) int cudaGetLastError() {
  const int harm = static_cast<int>(State::get().harm);
  const int last = harm != 0 ? harm : lastError();
  lastError() = 0;
  return last;
}
CUDA_API(cudaPeekAtLastError) int cudaPeekAtLastError() {
  const int harm = static_cast<int>(State::get().harm);
  return harm != 0 ? harm : lastError();
}

// ---- limits and caches ----

namespace {
constexpr int kStackSize = 0, kPrintfSize = 1, kHeapSize = 2, kLimits = 7;
size_t limits[kLimits] = {1024, 1 << 20, 0, 2, 2048, 128, 0};
}  // namespace

CUDA_API(cudaDeviceGetLimit) int cudaDeviceGetLimit(size_t* value, int limit) {
  return answer(__func__, [&] {
    need(limit >= 0 && limit < kLimits, Code::UnsupportedLimit, "no such limit");
    out(value) = limit == kHeapSize ? State::get().memory.shared()->heapMemory.size : limits[limit];
  });
}
// The heap has the size that the emulation was started with, and everything else grows as it needs to.
CUDA_API(cudaDeviceSetLimit) int cudaDeviceSetLimit(int limit, size_t value) {
  return answer(__func__, [&] {
    need(limit >= 0 && limit < kLimits, Code::UnsupportedLimit, "no such limit");
    if (limit == kHeapSize && value > State::get().memory.shared()->heapMemory.size) {
      const std::size_t mib = (value >> 20) + (value % (1u << 20) != 0);
      ptxopt::log::asked(ptxopt::log::kEmulate,
                         fmt::format("the program asks for more memory for malloc in kernels: --heap {}", mib));
      throw Failure{Code::MemoryAllocation, "the heap of malloc is smaller"};
    }
    limits[limit] = value;
  });
}
CUDA_API(cudaDeviceGetCacheConfig) int cudaDeviceGetCacheConfig(int* config) {
  return answer(__func__, [&] { out(config) = 0; });
}
CUDA_API(cudaDeviceSetCacheConfig) int cudaDeviceSetCacheConfig(int) {
  return answer(__func__, [] {});
}
CUDA_API(cudaDeviceGetSharedMemConfig) int cudaDeviceGetSharedMemConfig(int* config) {
  return answer(__func__, [&] { out(config) = 1; });
}
CUDA_API(cudaDeviceSetSharedMemConfig) int cudaDeviceSetSharedMemConfig(int) {
  return answer(__func__, [] {});
}
CUDA_API(cudaCtxResetPersistingL2Cache) int cudaCtxResetPersistingL2Cache() {
  return answer(__func__, [] {});
}
CUDA_API(cudaDeviceGetStreamPriorityRange) int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return answer(__func__, [&] {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
  });
}

// ---- peers ----

CUDA_API(cudaDeviceCanAccessPeer) int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return answer(__func__, [&] {
    needDevice(device);
    needDevice(peer);
    out(can) = 0;
  });
}
CUDA_API(cudaDeviceEnablePeerAccess) int cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return answer(__func__, [&] {
    needDevice(peer);
    throw Failure{Code::PeerAccessUnsupported, "a device is not a peer of itself"};
  });
}
CUDA_API(cudaDeviceDisablePeerAccess) int cudaDeviceDisablePeerAccess(int) {
  return answer(__func__, [] { throw Failure{Code::PeerAccessNotEnabled, "there is no peer"}; });
}
CUDA_API(cudaDeviceGetP2PAttribute) int cudaDeviceGetP2PAttribute(int* value, int, int, int) {
  return answer(__func__, [&] { out(value) = 0; });
}
