// Memory, streams and events: what the driver has in common with the runtime, whose functions do the work.
#include "emulate/driver/driver.h"

#include <cstring>

using namespace ptxopt::emulate;

extern "C" {
int cudaMalloc(void** address, size_t size);
int cudaFree(void* address);
int cudaMallocPitch(void** address, size_t* pitch, size_t width, size_t height);
int cudaMallocManaged(void** address, size_t size, unsigned flags);
int cudaMallocHost(void** address, size_t size);
int cudaHostAlloc(void** address, size_t size, unsigned flags);
int cudaFreeHost(void* address);
int cudaHostRegister(void* address, size_t size, unsigned flags);
int cudaHostUnregister(void* address);
int cudaHostGetDevicePointer(void** device, void* host, unsigned);
int cudaMallocAsync(void** address, size_t size, void* stream);
int cudaFreeAsync(void* address, void* stream);
int cudaMemGetInfo(size_t* available, size_t* total);
int cudaMemcpy(void* to, const void* from, size_t bytes, int kind);
int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void* stream);
int cudaMemset(void* to, int value, size_t bytes);
int cudaMemsetAsync(void* to, int value, size_t bytes, void* stream);
int cudaStreamCreateWithFlags(void** stream, unsigned flags);
int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority);
int cudaStreamDestroy(void* handle);
int cudaStreamSynchronize(void* handle);
int cudaStreamQuery(void* handle);
int cudaStreamWaitEvent(void* handle, void* event, unsigned);
int cudaStreamIsCapturing(void* handle, int* status);
int cudaLaunchHostFunc(void* handle, void (*function)(void*), void* data);
int cudaEventCreateWithFlags(void** event, unsigned);
int cudaEventDestroy(void* handle);
int cudaEventRecord(void* event, void* stream);
int cudaEventSynchronize(void* event);
int cudaEventQuery(void* event);
int cudaEventElapsedTime(float* milliseconds, void* from, void* to);
}

namespace {

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

CUDA_DRIVER_API int cuMemAlloc_v2(uint64_t* address, size_t size) {
  return byRuntime(cudaMalloc, reinterpret_cast<void**>(address), size);
}
CUDA_DRIVER_API int cuMemFree_v2(uint64_t address) { return byRuntime(cudaFree, pointer(address)); }
CUDA_DRIVER_API int cuMemAllocPitch_v2(uint64_t* address, size_t* pitch, size_t width, size_t height, unsigned) {
  return byRuntime(cudaMallocPitch, reinterpret_cast<void**>(address), pitch, width, height);
}
CUDA_DRIVER_API int cuMemAllocManaged(uint64_t* address, size_t size, unsigned flags) {
  return byRuntime(cudaMallocManaged, reinterpret_cast<void**>(address), size, flags);
}
CUDA_DRIVER_API int cuMemAllocHost_v2(void** address, size_t size) {
  return byRuntime(cudaMallocHost, address, size);
}
CUDA_DRIVER_API int cuMemHostAlloc(void** address, size_t size, unsigned flags) {
  return byRuntime(cudaHostAlloc, address, size, flags);
}
CUDA_DRIVER_API int cuMemFreeHost(void* address) { return byRuntime(cudaFreeHost, address); }
CUDA_DRIVER_API int cuMemHostRegister_v2(void* address, size_t size, unsigned flags) {
  return byRuntime(cudaHostRegister, address, size, flags);
}
CUDA_DRIVER_API int cuMemHostUnregister(void* address) { return byRuntime(cudaHostUnregister, address); }
CUDA_DRIVER_API int cuMemHostGetDevicePointer_v2(uint64_t* device, void* host, unsigned flags) {
  return byRuntime(cudaHostGetDevicePointer, reinterpret_cast<void**>(device), host, flags);
}
CUDA_DRIVER_API int cuMemAllocAsync(uint64_t* address, size_t size, void* stream) {
  return byRuntime(cudaMallocAsync, reinterpret_cast<void**>(address), size, stream);
}
CUDA_DRIVER_API int cuMemFreeAsync(uint64_t address, void* stream) {
  return byRuntime(cudaFreeAsync, pointer(address), stream);
}
CUDA_DRIVER_API int cuMemGetInfo_v2(size_t* available, size_t* total) {
  return byRuntime(cudaMemGetInfo, available, total);
}
CUDA_DRIVER_API int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  return byRuntime(cudaMemcpy, pointer(to), from, bytes, 1);
}
CUDA_DRIVER_API int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
  return byRuntime(cudaMemcpyAsync, pointer(to), from, bytes, 1, stream);
}
CUDA_DRIVER_API int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  return byRuntime(cudaMemcpy, to, pointer(from), bytes, 2);
}
CUDA_DRIVER_API int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
  return byRuntime(cudaMemcpyAsync, to, pointer(from), bytes, 2, stream);
}
CUDA_DRIVER_API int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes) {
  return byRuntime(cudaMemcpy, pointer(to), pointer(from), bytes, 3);
}
CUDA_DRIVER_API int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  return byRuntime(cudaMemcpyAsync, pointer(to), pointer(from), bytes, 3, stream);
}
CUDA_DRIVER_API int cuMemcpy(uint64_t to, uint64_t from, size_t bytes) {
  return byRuntime(cudaMemcpy, pointer(to), pointer(from), bytes, 4);
}
CUDA_DRIVER_API int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  return byRuntime(cudaMemcpyAsync, pointer(to), pointer(from), bytes, 4, stream);
}
CUDA_DRIVER_API int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t count) {
  return byRuntime(cudaMemset, pointer(to), value, count);
}
CUDA_DRIVER_API int cuMemsetD8Async(uint64_t to, unsigned char value, size_t count, void* stream) {
  return byRuntime(cudaMemsetAsync, pointer(to), value, count, stream);
}
CUDA_DRIVER_API int cuStreamCreate(void** stream, unsigned flags) {
  return byRuntime(cudaStreamCreateWithFlags, stream, flags);
}
CUDA_DRIVER_API int cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return byRuntime(cudaStreamCreateWithPriority, stream, flags, priority);
}
CUDA_DRIVER_API int cuStreamDestroy_v2(void* stream) { return byRuntime(cudaStreamDestroy, stream); }
CUDA_DRIVER_API int cuStreamSynchronize(void* stream) { return byRuntime(cudaStreamSynchronize, stream); }
CUDA_DRIVER_API int cuStreamQuery(void* stream) { return byRuntime(cudaStreamQuery, stream); }
CUDA_DRIVER_API int cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return byRuntime(cudaStreamWaitEvent, stream, event, flags);
}
CUDA_DRIVER_API int cuStreamIsCapturing(void* stream, int* status) {
  return byRuntime(cudaStreamIsCapturing, stream, status);
}
CUDA_DRIVER_API int cuLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  return byRuntime(cudaLaunchHostFunc, stream, function, data);
}
CUDA_DRIVER_API int cuEventCreate(void** event, unsigned flags) {
  return byRuntime(cudaEventCreateWithFlags, event, flags);
}
CUDA_DRIVER_API int cuEventDestroy_v2(void* event) { return byRuntime(cudaEventDestroy, event); }
CUDA_DRIVER_API int cuEventRecord(void* event, void* stream) { return byRuntime(cudaEventRecord, event, stream); }
CUDA_DRIVER_API int cuEventSynchronize(void* event) { return byRuntime(cudaEventSynchronize, event); }
CUDA_DRIVER_API int cuEventQuery(void* event) { return byRuntime(cudaEventQuery, event); }
CUDA_DRIVER_API int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  return byRuntime(cudaEventElapsedTime, milliseconds, from, to);
}
CUDA_DRIVER_API int cuEventElapsedTime_v2(float* milliseconds, void* from, void* to) {
  return byRuntime(cudaEventElapsedTime, milliseconds, from, to);
}

// Elements of 2 and 4 bytes.
namespace {
void fillElements(uint64_t to, unsigned value, size_t bytes, size_t count) {
  if (count == 0) return;
  std::byte* const at = State::get().memory.bytes(to, bytes * count);
  for (size_t i = 0; i < count; ++i) std::memcpy(at + i * bytes, &value, bytes);
}
}  // namespace
CUDA_DRIVER_API int cuMemsetD16_v2(uint64_t to, unsigned short value, size_t count) {
  return answerDriver(__func__, [&] { fillElements(to, value, 2, count); });
}
CUDA_DRIVER_API int cuMemsetD32_v2(uint64_t to, unsigned value, size_t count) {
  return answerDriver(__func__, [&] { fillElements(to, value, 4, count); });
}
CUDA_DRIVER_API int cuMemsetD32Async(uint64_t to, unsigned value, size_t count, void* stream) {
  return answerDriver(
      __func__, [&] { State::get().enqueue(stream, NodeType::Fill, [=] { fillElements(to, value, 4, count); }); });
}
CUDA_DRIVER_API int cuMemGetAddressRange_v2(uint64_t* base, size_t* size, uint64_t address) {
  return answerDriver(__func__, [&] {
    const Block* const block = State::get().memory.around(address);
    need(block != nullptr, Code::SymbolNotFound, "no memory lies there");
    if (base != nullptr) *base = block->address;
    if (size != nullptr) *size = block->size;
  });
}
CUDA_DRIVER_API int cuPointerGetAttribute(void* value, int attribute, uint64_t address) {
  return answerDriver(__func__, [&] {
    const Block* const block = State::get().memory.around(address);
    need(block != nullptr, Code::InvalidValue, "no memory lies there");
    constexpr int kMemoryType = 2, kDevicePointer = 3, kHostPointer = 4, kIsManaged = 8, kOrdinal = 9;
    switch (attribute) {
      case kMemoryType: *static_cast<unsigned*>(value) = block->kind == MemoryKind::Host ? 1 : 2; break;
      case kDevicePointer: *static_cast<uint64_t*>(value) = address; break;
      case kHostPointer:
        need(block->kind != MemoryKind::Device, Code::InvalidValue, "the host does not see it");
        *static_cast<uint64_t*>(value) = address;
        break;
      case kIsManaged: *static_cast<unsigned*>(value) = block->kind == MemoryKind::Managed; break;
      case kOrdinal: *static_cast<int*>(value) = 0; break;
      default: throw Failure{Code::NotSupported, "an attribute of pointers that the emulated driver does not have"};
    }
  });
}
