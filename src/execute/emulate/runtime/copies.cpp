// Each function of CUDA checks the direction, the sizes and the ranges, and moves bytes by one of a few helpers, at
// once or as work of a stream. Products of sizes are checked for overflow.
#include "emulate/runtime/copies.h"

#include <cstring>

#include "emulate/runtime/arrays.h"
#include "emulate/runtime/exported.h"

namespace ptxopt::emulate {

Direction directionOf(int kind) {
  need(kind >= 0 && kind <= static_cast<int>(Direction::Default), Code::InvalidMemcpyDirection,
       "no such direction");
  return static_cast<Direction>(kind);
}

std::byte* destinationOf(void* to, size_t bytes, Direction d) {
  const bool isDevice = d == Direction::HostToDevice || d == Direction::DeviceToDevice;
  return isDevice ? State::get().memory.bytes(reinterpret_cast<uint64_t>(to), bytes)
                  : State::get().memory.anyBytes(to, bytes);
}

const std::byte* sourceOf(const void* from, size_t bytes, Direction d) {
  const bool isDevice = d == Direction::DeviceToHost || d == Direction::DeviceToDevice;
  return isDevice ? State::get().memory.bytes(reinterpret_cast<uint64_t>(from), bytes)
                  : State::get().memory.anyBytes(from, bytes);
}

void copyBytes(void* to, const void* from, size_t bytes, Direction d) {
  if (bytes == 0) return;
  std::memmove(destinationOf(to, bytes, d), sourceOf(from, bytes, d), bytes);
}

void copyRows(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height,
              Direction d) {
  if (width == 0 || height == 0) return;
  need(width <= toPitch && width <= fromPitch, Code::InvalidPitchValue, "a row is longer than the pitch");
  const uint64_t toBytes = bytesOfRows(toPitch, height, width), fromBytes = bytesOfRows(fromPitch, height, width);
  need(toBytes != UINT64_MAX && fromBytes != UINT64_MAX, Code::InvalidPitchValue, "more bytes than there are");
  std::byte* const t = destinationOf(to, toBytes, d);
  const std::byte* const f = sourceOf(from, fromBytes, d);
  for (size_t y = 0; y < height; ++y) std::memmove(t + y * toPitch, f + y * fromPitch, width);
}

void copyBox(const Copy3D& c) {
  const Direction d = directionOf(c.kind);
  // With an array at one end, widths are elements of it; else bytes.
  const Array* const array = c.fromArray != nullptr ? &arrayAt(c.fromArray)
                             : c.toArray != nullptr ? &arrayAt(c.toArray)
                                                    : nullptr;
  const size_t unit = array != nullptr ? array->elementBytes() : 1;
  constexpr size_t kMost = size_t{1} << 47;  // of anything that is a number of bytes: more than a pointer reaches
  need(c.extent.width <= kMost / unit && c.extent.height <= kMost && c.extent.depth <= kMost, Code::InvalidValue,
       "more bytes than there are");
  const size_t width = c.extent.width * unit;
  if (width == 0 || c.extent.height == 0 || c.extent.depth == 0) return;
  // The first byte, and the strides, at one end.
  struct End {
    std::byte* first;
    size_t row, slice;
  };
  const auto endOf = [&](void* handle, const Position& at, const PitchedPointer& pointer, bool isSource) -> End {
    if (handle != nullptr) {
      Array& a = arrayAt(handle);
      a.needInside(at, c.extent);
      return {a.texel(at.x, at.y, at.z), a.rowBytes(), a.sliceBytes()};
    }
    const size_t slice =
        bytesOfRows(pointer.pitch, pointer.height != 0 ? pointer.height : c.extent.height, pointer.pitch);
    const uint64_t last =
        bytesOfRows(slice, at.z + c.extent.depth, bytesOfRows(pointer.pitch, at.y + c.extent.height, at.x + width));
    need(at.x <= kMost && at.y <= kMost && at.z <= kMost && last <= kMost, Code::InvalidValue,
         "more bytes than there are");
    const size_t offset = at.z * slice + at.y * pointer.pitch + at.x;
    need(at.x + width <= pointer.pitch || c.extent.height * c.extent.depth == 1, Code::InvalidPitchValue,
         "a row is longer than the pitch");
    const size_t bytes = (c.extent.depth - 1) * slice + (c.extent.height - 1) * pointer.pitch + width;
    auto* const begin = static_cast<std::byte*>(pointer.address) + offset;
    return {isSource ? const_cast<std::byte*>(sourceOf(begin, bytes, d)) : destinationOf(begin, bytes, d),
            pointer.pitch, slice};
  };
  const End from = endOf(c.fromArray, c.fromPosition, c.from, true),
            to = endOf(c.toArray, c.toPosition, c.to, false);
  for (size_t z = 0; z < c.extent.depth; ++z)
    for (size_t y = 0; y < c.extent.height; ++y)
      std::memmove(to.first + z * to.slice + y * to.row, from.first + z * from.slice + y * from.row, width);
}

void fill(void* to, size_t pitch, unsigned value, size_t elementBytes, size_t width, size_t height) {
  if (width == 0 || height == 0) return;
  const size_t rowBytes = bytesOfRows(elementBytes, width, elementBytes);
  need(height == 1 || rowBytes <= pitch, Code::InvalidPitchValue, "a row is longer than the pitch");
  std::byte* const at =
      State::get().memory.bytes(reinterpret_cast<uint64_t>(to), bytesOfRows(pitch, height, rowBytes));
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < rowBytes; x += elementBytes) std::memcpy(at + y * pitch + x, &value, elementBytes);
}

namespace {

// Now, where no stream is named: what copies at once may not be captured.
int now(const char* call, const std::function<void()>& work) { return answer(call, work); }
int later(const char* call, void* stream, NodeType type, std::function<void()> work) {
  return answer(call, [&] { State::get().enqueue(stream, type, std::move(work)); });
}

void* inVariable(const void* symbol, size_t offset, size_t bytes) {
  ptxopt::exec::Allocation& a = State::get().variable(symbol);
  need(offset <= a.size && bytes <= a.size - offset, Code::InvalidValue, "a range outside of the variable");
  return a.data + offset;
}

// The bytes of a variable are those of the host by now.
void toVariable(const void* symbol, const void* from, size_t bytes, size_t offset, Direction d) {
  if (bytes != 0) std::memmove(inVariable(symbol, offset, bytes), sourceOf(from, bytes, d), bytes);
}
void fromVariable(void* to, const void* symbol, size_t bytes, size_t offset, Direction d) {
  if (bytes != 0) std::memmove(destinationOf(to, bytes, d), inVariable(symbol, offset, bytes), bytes);
}

}  // namespace
}  // namespace ptxopt::emulate

using namespace ptxopt::emulate;

CUDA_API(cudaMemcpy) int cudaMemcpy(void* to, const void* from, size_t bytes, int kind) {
  return now(__func__, [&] { copyBytes(to, from, bytes, directionOf(kind)); });
}
CUDA_ALSO(cudaMemcpy, cudaMemcpy_ptds)
CUDA_API(cudaMemcpyAsync) int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void* stream) {
  return later(__func__, stream, NodeType::Copy, [=] { copyBytes(to, from, bytes, directionOf(kind)); });
}
CUDA_ALSO(cudaMemcpyAsync, cudaMemcpyAsync_ptsz)
CUDA_API(cudaMemcpyPeer) int cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return now(__func__, [&] { copyBytes(to, from, bytes, Direction::DeviceToDevice); });
}
CUDA_API(cudaMemcpyPeerAsync)
int cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, void* stream) {
  return later(__func__, stream, NodeType::Copy, [=] { copyBytes(to, from, bytes, Direction::DeviceToDevice); });
}
CUDA_API(cudaMemcpy2D)
int cudaMemcpy2D(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height,
                 int kind) {
  return now(__func__, [&] { copyRows(to, toPitch, from, fromPitch, width, height, directionOf(kind)); });
}
CUDA_ALSO(cudaMemcpy2D, cudaMemcpy2D_ptds)
CUDA_API(cudaMemcpy2DAsync)
int cudaMemcpy2DAsync(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height,
                      int kind, void* stream) {
  return later(__func__, stream, NodeType::Copy,
               [=] { copyRows(to, toPitch, from, fromPitch, width, height, directionOf(kind)); });
}
CUDA_ALSO(cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz)
CUDA_API(cudaMemcpy3D) int cudaMemcpy3D(const Copy3D* copy) {
  return now(__func__, [&] { copyBox(out(copy)); });
}
CUDA_ALSO(cudaMemcpy3D, cudaMemcpy3D_ptds)
CUDA_API(cudaMemcpy3DAsync) int cudaMemcpy3DAsync(const Copy3D* copy, void* stream) {
  if (copy == nullptr) return now(__func__, [&] { out(copy); });
  return later(__func__, stream, NodeType::Copy, [c = *copy] { copyBox(c); });
}
CUDA_ALSO(cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz)

CUDA_API(cudaMemset) int cudaMemset(void* to, int value, size_t bytes) {
  return now(__func__, [&] { fill(to, bytes, static_cast<unsigned>(value), 1, bytes, 1); });
}
CUDA_ALSO(cudaMemset, cudaMemset_ptds)
CUDA_API(cudaMemsetAsync) int cudaMemsetAsync(void* to, int value, size_t bytes, void* stream) {
  return later(__func__, stream, NodeType::Fill,
               [=] { fill(to, bytes, static_cast<unsigned>(value), 1, bytes, 1); });
}
CUDA_ALSO(cudaMemsetAsync, cudaMemsetAsync_ptsz)
CUDA_API(cudaMemset2D) int cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return now(__func__, [&] { fill(to, pitch, static_cast<unsigned>(value), 1, width, height); });
}
CUDA_ALSO(cudaMemset2D, cudaMemset2D_ptds)
CUDA_API(cudaMemset2DAsync)
int cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, void* stream) {
  return later(__func__, stream, NodeType::Fill,
               [=] { fill(to, pitch, static_cast<unsigned>(value), 1, width, height); });
}
CUDA_ALSO(cudaMemset2DAsync, cudaMemset2DAsync_ptsz)
CUDA_API(cudaMemset3D) int cudaMemset3D(PitchedPointer to, int value, Extent extent) {
  return now(__func__, [&] {
    for (size_t z = 0; z < extent.depth; ++z)
      fill(static_cast<std::byte*>(to.address) + z * to.pitch * to.height, to.pitch, static_cast<unsigned>(value),
           1, extent.width, extent.height);
  });
}
CUDA_ALSO(cudaMemset3D, cudaMemset3D_ptds)
CUDA_API(cudaMemset3DAsync) int cudaMemset3DAsync(PitchedPointer to, int value, Extent extent, void* stream) {
  return later(__func__, stream, NodeType::Fill, [=] {
    for (size_t z = 0; z < extent.depth; ++z)
      fill(static_cast<std::byte*>(to.address) + z * to.pitch * to.height, to.pitch, static_cast<unsigned>(value),
           1, extent.width, extent.height);
  });
}
CUDA_ALSO(cudaMemset3DAsync, cudaMemset3DAsync_ptsz)

// ---- variables ----

CUDA_API(cudaMemcpyToSymbol)
int cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, int kind) {
  return now(__func__, [&] { toVariable(symbol, from, bytes, offset, directionOf(kind)); });
}
CUDA_ALSO(cudaMemcpyToSymbol, cudaMemcpyToSymbol_ptds)
CUDA_API(cudaMemcpyToSymbolAsync)
int cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset, int kind,
                            void* stream) {
  return later(__func__, stream, NodeType::Copy,
               [=] { toVariable(symbol, from, bytes, offset, directionOf(kind)); });
}
CUDA_ALSO(cudaMemcpyToSymbolAsync, cudaMemcpyToSymbolAsync_ptsz)
CUDA_API(cudaMemcpyFromSymbol)
int cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, int kind) {
  return now(__func__, [&] { fromVariable(to, symbol, bytes, offset, directionOf(kind)); });
}
CUDA_ALSO(cudaMemcpyFromSymbol, cudaMemcpyFromSymbol_ptds)
CUDA_API(cudaMemcpyFromSymbolAsync)
int cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, int kind, void* stream) {
  return later(__func__, stream, NodeType::Copy,
               [=] { fromVariable(to, symbol, bytes, offset, directionOf(kind)); });
}
CUDA_ALSO(cudaMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync_ptsz)
CUDA_API(cudaGetSymbolAddress) int cudaGetSymbolAddress(void** address, const void* symbol) {
  return answer(__func__, [&] { out(address) = reinterpret_cast<void*>(State::get().variable(symbol).base); });
}
CUDA_API(cudaGetSymbolSize) int cudaGetSymbolSize(size_t* size, const void* symbol) {
  return answer(__func__, [&] { out(size) = State::get().variable(symbol).size; });
}
