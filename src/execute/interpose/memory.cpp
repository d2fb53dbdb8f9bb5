// The functions of the driver that give memory to programs, as these see them: each does what the driver does, and notes it.
#include <cstddef>
#include <cstdint>

#include "interpose/allocations.h"
#include "interpose/gate.h"
#include "interpose/real.h"

#pragma GCC diagnostic ignored "-Wmissing-declarations"

using namespace ptxopt::interpose;

namespace {

constexpr const char* kDeviceMemory = "device memory";

void* currentContext() {
  static auto* const call = reinterpret_cast<int (*)(void**)>(driverFunction("cuCtxGetCurrent"));
  void* context = nullptr;
  return call != nullptr && call(&context) == 0 ? context : nullptr;
}

// What a stream that is captured is asked for is there when the graph runs.
bool isCaptured(void* stream) {
  static auto* const call = reinterpret_cast<int (*)(void*, int*)>(driverFunction("cuStreamIsCapturing"));
  int status = 0;
  return call != nullptr && call(stream, &status) == 0 && status != 0;
}

void noteMemory(int result, const uint64_t* address, uint64_t size, const char* name, bool isOfHost = false) {
  if (result == 0 && address != nullptr && size != 0 && isRequested())
    Allocations::get().add(*address, {size, name, isOfHost, currentContext()});
}
void noteHost(int result, void* const* address, uint64_t size) {
  if (result != 0 || address == nullptr) return;
  const auto at = reinterpret_cast<uint64_t>(*address);
  noteMemory(result, &at, size, "host memory", true);
}
void noteOrdered(int result, const uint64_t* address, uint64_t size, void* stream) {
  if (result == 0 && isRequested() && !isCaptured(stream)) noteMemory(result, address, size, kDeviceMemory);
}
void noteFreed(uint64_t address) {
  if (isRequested()) Allocations::get().remove(address);
}

}  // namespace

INTERPOSED cuMemAlloc_v2(uint64_t* address, size_t size) {
  const Gate::Passage passage;
  const int result = call(REAL(cuMemAlloc_v2), address, size);
  noteMemory(result, address, size, kDeviceMemory);
  return result;
}
INTERPOSED cuMemAllocPitch_v2(uint64_t* address, size_t* pitch, size_t width, size_t height, unsigned element) {
  const Gate::Passage passage;
  const int result = call(REAL(cuMemAllocPitch_v2), address, pitch, width, height, element);
  noteMemory(result, address, result == 0 ? *pitch * height : 0, kDeviceMemory);
  return result;
}
INTERPOSED cuMemAllocManaged(uint64_t* address, size_t size, unsigned flags) {
  const Gate::Passage passage;
  const int result = call(REAL(cuMemAllocManaged), address, size, flags);
  noteMemory(result, address, size, "managed memory");
  return result;
}
#define INTERPOSED_POOLS(suffix)                                                                         \
  INTERPOSED cuMemAllocAsync##suffix(uint64_t* address, size_t size, void* stream) {                     \
    const Gate::Passage passage;                                                                         \
    const int result = call(REAL(cuMemAllocAsync##suffix), address, size, stream);                       \
    noteOrdered(result, address, size, stream);                                                          \
    return result;                                                                                       \
  }                                                                                                      \
  INTERPOSED cuMemAllocFromPoolAsync##suffix(uint64_t* address, size_t size, void* pool, void* stream) { \
    const Gate::Passage passage;                                                                         \
    const int result = call(REAL(cuMemAllocFromPoolAsync##suffix), address, size, pool, stream);         \
    noteOrdered(result, address, size, stream);                                                          \
    return result;                                                                                       \
  }                                                                                                      \
  INTERPOSED cuMemFreeAsync##suffix(uint64_t address, void* stream) {                                    \
    const Gate::Passage passage;                                                                         \
    noteFreed(address);                                                                                  \
    return call(REAL(cuMemFreeAsync##suffix), address, stream);                                          \
  }
INTERPOSED_POOLS()
INTERPOSED_POOLS(_ptsz)
INTERPOSED cuMemFree_v2(uint64_t address) {
  const Gate::Passage passage;
  noteFreed(address);
  return call(REAL(cuMemFree_v2), address);
}
INTERPOSED cuMemAllocHost_v2(void** address, size_t size) {
  const Gate::Passage passage;
  const int result = call(REAL(cuMemAllocHost_v2), address, size);
  noteHost(result, address, size);
  return result;
}
INTERPOSED cuMemHostAlloc(void** address, size_t size, unsigned flags) {
  const Gate::Passage passage;
  const int result = call(REAL(cuMemHostAlloc), address, size, flags);
  noteHost(result, address, size);
  return result;
}
INTERPOSED cuMemFreeHost(void* address) {
  const Gate::Passage passage;
  noteFreed(reinterpret_cast<uint64_t>(address));
  return call(REAL(cuMemFreeHost), address);
}
INTERPOSED cuMemHostRegister_v2(void* address, size_t size, unsigned flags) {
  const Gate::Passage passage;
  const int result = call(REAL(cuMemHostRegister_v2), address, size, flags);
  noteHost(result, &address, size);
  return result;
}
INTERPOSED cuMemHostUnregister(void* address) {
  const Gate::Passage passage;
  noteFreed(reinterpret_cast<uint64_t>(address));
  return call(REAL(cuMemHostUnregister), address);
}
INTERPOSED cuMemMap(uint64_t address, size_t size, size_t offset, unsigned long long handle,
                    unsigned long long flags) {
  const Gate::Passage passage;
  const int result = call(REAL(cuMemMap), address, size, offset, handle, flags);
  noteMemory(result, &address, size, "mapped memory");
  return result;
}
INTERPOSED cuMemUnmap(uint64_t address, size_t size) {
  const Gate::Passage passage;
  if (isRequested()) Allocations::get().remove(address, address + size);
  return call(REAL(cuMemUnmap), address, size);
}
