// Allocating memory, on the device, on the host, managed, from pools; and what a pointer is.
#include "emulate/runtime/abi.h"
#include "emulate/runtime/exported.h"

#include "exec/align.h"

using namespace ptxopt::emulate;

namespace {

constexpr size_t kPitchUnit = 512;
constexpr unsigned kMapped = 2;

uint64_t addressOf(const void* p) { return reinterpret_cast<uint64_t>(p); }
void* pointerTo(uint64_t address) { return reinterpret_cast<void*>(address); }

void* allocate(size_t size, MemoryKind kind, unsigned flags = 0) {
  return pointerTo(State::get().memory.allocate(size, kind, flags).address);
}

// CUDA gives a null pointer for 0 bytes.
void* allocateOrNull(size_t size, MemoryKind kind, unsigned flags = 0) {
  return size != 0 ? allocate(size, kind, flags) : nullptr;
}

void release(void* address, std::initializer_list<MemoryKind> kinds) {
  if (address == nullptr) return;
  Block* const block = State::get().memory.beginningAt(addressOf(address));
  need(block != nullptr && std::find(kinds.begin(), kinds.end(), block->kind) != kinds.end(), Code::InvalidValue,
       "no memory of this kind begins at the address");
  State::get().memory.release(*block);
}

PitchedPointer allocatePitched(size_t width, size_t height, size_t depth) {
  need(width <= SIZE_MAX - kPitchUnit, Code::InvalidValue, "a row is longer than memory");
  const size_t pitch = ptxopt::exec::roundUp(width, kPitchUnit);
  if (pitch == 0 || height == 0 || depth == 0) return {nullptr, pitch, width, height};
  const uint64_t slice = bytesOfRows(pitch, height, pitch);
  return {allocate(bytesOfRows(slice, depth, slice), MemoryKind::Device), pitch, width, height};
}

}  // namespace

CUDA_API(cudaMalloc) int cudaMalloc(void** address, size_t size) {
  return answer(__func__, [&] { out(address) = allocateOrNull(size, MemoryKind::Device); });
}
CUDA_API(cudaMallocPitch) int cudaMallocPitch(void** address, size_t* pitch, size_t width, size_t height) {
  return answer(__func__, [&] {
    const PitchedPointer p = allocatePitched(width, height, 1);
    out(address) = p.address;
    out(pitch) = p.pitch;
  });
}
CUDA_API(cudaMalloc3D) int cudaMalloc3D(PitchedPointer* place, Extent extent) {
  return answer(__func__, [&] { out(place) = allocatePitched(extent.width, extent.height, extent.depth); });
}
CUDA_API(cudaMallocManaged) int cudaMallocManaged(void** address, size_t size, unsigned flags) {
  return answer(__func__, [&] { out(address) = allocate(size, MemoryKind::Managed, flags); });
}
CUDA_API(cudaFree) int cudaFree(void* address) {
  return answer(__func__, [&] { release(address, {MemoryKind::Device, MemoryKind::Managed}); });
}

// ---- host memory that kernels see ----

CUDA_API(cudaMallocHost) int cudaMallocHost(void** address, size_t size) {
  return answer(__func__, [&] { out(address) = allocateOrNull(size, MemoryKind::Host, kMapped); });
}
CUDA_API(cudaHostAlloc) int cudaHostAlloc(void** address, size_t size, unsigned flags) {
  return answer(__func__, [&] { out(address) = allocateOrNull(size, MemoryKind::Host, flags | kMapped); });
}
CUDA_API(cudaFreeHost) int cudaFreeHost(void* address) {
  return answer(__func__, [&] { release(address, {MemoryKind::Host}); });
}
CUDA_API(cudaHostRegister) int cudaHostRegister(void* address, size_t size, unsigned flags) {
  return answer(__func__, [&] { State::get().memory.registerHost(address, size, flags); });
}
CUDA_API(cudaHostUnregister) int cudaHostUnregister(void* address) {
  return answer(__func__, [&] {
    Block* const block = State::get().memory.beginningAt(addressOf(address));
    need(block != nullptr && block->kind == MemoryKind::Registered, Code::HostMemoryNotRegistered,
         "no registered memory begins at the address");
    State::get().memory.release(*block);
  });
}
CUDA_API(cudaHostGetDevicePointer) int cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return answer(__func__, [&] {
    need(State::get().memory.around(addressOf(host)) != nullptr, Code::InvalidValue,
         "kernels do not see this memory");
    out(device) = host;
  });
}
CUDA_API(cudaHostGetFlags) int cudaHostGetFlags(unsigned* flags, void* host) {
  return answer(__func__, [&] {
    const Block* const block = State::get().memory.around(addressOf(host));
    need(block != nullptr, Code::InvalidValue, "kernels do not see this memory");
    out(flags) = block->flags;
  });
}

// ---- pools: all memory is of one, which streams allocate from in their order ----

namespace {
int defaultPool = 0;
}

CUDA_API(cudaMallocAsync) int cudaMallocAsync(void** address, size_t size, void* stream) {
  return answer(__func__, [&] {
    State::get().stream(stream);
    out(address) = allocateOrNull(size, MemoryKind::Device);
  });
}
CUDA_ALSO(cudaMallocAsync, cudaMallocAsync_ptsz)
CUDA_API(cudaMallocFromPoolAsync) int cudaMallocFromPoolAsync(void** address, size_t size, void*, void* stream) {
  return cudaMallocAsync(address, size, stream);
}
CUDA_ALSO(cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz)
CUDA_API(cudaFreeAsync) int cudaFreeAsync(void* address, void* stream) {
  return answer(__func__, [&] {
    State::get().enqueue(stream, NodeType::Free, [address] {
      release(address, {MemoryKind::Device, MemoryKind::Managed});
    });
  });
}
CUDA_ALSO(cudaFreeAsync, cudaFreeAsync_ptsz)
CUDA_API(cudaDeviceGetDefaultMemPool) int cudaDeviceGetDefaultMemPool(void** pool, int) {
  return answer(__func__, [&] { out(pool) = &defaultPool; });
}
CUDA_ALSO(cudaDeviceGetDefaultMemPool, cudaDeviceGetMemPool)
CUDA_API(cudaDeviceSetMemPool) int cudaDeviceSetMemPool(int, void*) {
  return answer(__func__, [] {});
}
CUDA_API(cudaMemPoolCreate) int cudaMemPoolCreate(void** pool, const void*) {
  return answer(__func__, [&] { out(pool) = &defaultPool; });
}
CUDA_API(cudaMemPoolDestroy) int cudaMemPoolDestroy(void*) {
  return answer(__func__, [] {});
}
CUDA_API(cudaMemPoolTrimTo) int cudaMemPoolTrimTo(void*, size_t) {
  return answer(__func__, [] {});
}
CUDA_API(cudaMemPoolSetAttribute) int cudaMemPoolSetAttribute(void*, int, void*) {
  return answer(__func__, [] {});
}
CUDA_API(cudaMemPoolSetAccess) int cudaMemPoolSetAccess(void*, const void*, size_t) {
  return answer(__func__, [] {});
}

// ---- what there is ----

CUDA_API(cudaMemGetInfo) int cudaMemGetInfo(size_t* available, size_t* total) {
  return answer(__func__, [&] {
    out(available) = State::get().memory.available();
    out(total) = State::get().memory.total();
  });
}
CUDA_API(cudaPointerGetAttributes)
int cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  return answer(__func__, [&] {
    constexpr int kUnknown = 0, kHost = 1, kDevice = 2, kManaged = 3;
    const Block* const block = State::get().memory.around(addressOf(pointer));
    PointerAttributes& a = out(attributes);
    a = {};
    if (block == nullptr) {
      // A variable, or memory of the program's own that CUDA does not know. A managed variable is seen where its bytes lie.
      const auto* const variable = State::get().memory.global().find(addressOf(pointer));
      auto* const p = const_cast<void*>(pointer);
      if (variable == nullptr)
        a = {kUnknown, -1, nullptr, p};
      else
        a = {variable->isForeign ? kManaged : kDevice, 0, p, variable->isForeign ? p : nullptr};
      return;
    }
    a.type = block->kind == MemoryKind::Device ? kDevice : block->kind == MemoryKind::Managed ? kManaged : kHost;
    a.devicePointer = const_cast<void*>(pointer);
    a.hostPointer = block->kind == MemoryKind::Device ? nullptr : const_cast<void*>(pointer);
  });
}
// Where managed memory lies makes no difference here.
CUDA_API(cudaMemAdvise) int cudaMemAdvise(const void*, size_t, int, ...) {
  return answer(__func__, [] {});
}
CUDA_ALSO(cudaMemAdvise, cudaMemAdvise_v2)
CUDA_API(cudaMemPrefetchAsync) int cudaMemPrefetchAsync(const void*, size_t, ...) {
  return answer(__func__, [] {});
}
CUDA_ALSO(cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz)
CUDA_ALSO(cudaMemPrefetchAsync, cudaMemPrefetchAsync_v2)
CUDA_ALSO(cudaMemPrefetchAsync, cudaMemPrefetchAsync_v2_ptsz)
CUDA_API(cudaStreamAttachMemAsync) int cudaStreamAttachMemAsync(void*, void*, size_t, unsigned) {
  return answer(__func__, [] {});
}
CUDA_ALSO(cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz)
