// An array holds its texels in rows, one slice after the other. Each copy is checked against the array before the bytes
// are moved; copies on a stream are put into its queue.
#include "emulate/runtime/arrays.h"

#include <cstring>
#include <set>

#include "emulate/runtime/copies.h"
#include "emulate/runtime/exported.h"

namespace ptxopt::emulate {
namespace {

std::set<Array*>& arrays() {
  static auto* const all = new std::set<Array*>;
  return *all;
}

constexpr int kSigned = 0, kUnsigned = 1, kFloat = 2;

}  // namespace

unsigned channelsOf(const ChannelFormat& f) {
  unsigned n = 0;
  while (n < 4 && f.bits[n] != 0) ++n;
  return n;
}

size_t Array::elementBytes() const { return static_cast<size_t>(format.bits[0]) / 8 * channelsOf(format); }

void Array::needInside(const Position& at, const Extent& box) const {
  need(at.x + box.width <= width() && at.y + box.height <= height() && at.z + box.depth <= depth(),
       Code::InvalidValue, "a box reaches out of the array");
}

exec::TexelFormat texelFormat(const ChannelFormat& f, bool normalized) {
  using F = exec::TexelFormat;
  const unsigned n = channelsOf(f);
  const int bits = f.bits[0];
  need(n == 1 || n == 2 || n == 4, Code::InvalidChannelDescriptor, "1, 2 or 4 channels");
  for (unsigned i = 1; i < n; ++i)
    need(f.bits[i] == bits, Code::InvalidChannelDescriptor, "channels of different sizes");
  if (f.kind == kFloat && bits == 32) return F::Float;
  if (f.kind == kFloat && bits == 16) return F::Half;
  if (f.kind == kSigned && bits == 8) return normalized ? F::Snorm8 : F::Signed8;
  if (f.kind == kSigned && bits == 16) return normalized ? F::Snorm16 : F::Signed16;
  if (f.kind == kSigned && bits == 32) return F::Signed32;
  if (f.kind == kUnsigned && bits == 8) return normalized ? F::Unorm8 : F::Unsigned8;
  if (f.kind == kUnsigned && bits == 16) return normalized ? F::Unorm16 : F::Unsigned16;
  if (f.kind == kUnsigned && bits == 32) return F::Unsigned32;
  throw Failure{Code::InvalidChannelDescriptor, "a format of texels that the interpreter does not have"};
}

Array& arrayAt(const void* handle) {
  auto* const array = static_cast<Array*>(const_cast<void*>(handle));
  need(arrays().contains(array), Code::InvalidResourceHandle, "no such array");
  return *array;
}

namespace {

void* newArray(const ChannelFormat& format, const Extent& extent, unsigned flags) {
  texelFormat(format, false);
  need(extent.width != 0, Code::InvalidValue, "an array without a width");
  auto* const array = new Array;
  array->format = format;
  array->extent = extent;
  array->flags = flags;
  array->bytes.resize(array->sliceBytes() * array->depth());
  arrays().insert(array);
  return array;
}

// Bytes that run on from row to row, as the calls of one dimension have them.
std::byte* runOf(Array& a, size_t x, size_t y, size_t bytes) {
  const size_t offset = y * a.rowBytes() + x;
  need(offset <= a.bytes.size() && bytes <= a.bytes.size() - offset, Code::InvalidValue,
       "a range outside of the array");
  return a.bytes.data() + offset;
}

void rowsTo(void* handle, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
            Direction d) {
  Array& a = arrayAt(handle);
  need(x + width <= a.rowBytes() && y + height <= a.height(), Code::InvalidValue, "a box reaches out of the array");
  if (width == 0 || height == 0) return;
  const std::byte* const f = sourceOf(from, pitch * (height - 1) + width, d);
  for (size_t i = 0; i < height; ++i) std::memcpy(a.texel(0, y + i, 0) + x, f + i * pitch, width);
}

void rowsFrom(void* to, size_t pitch, void* handle, size_t x, size_t y, size_t width, size_t height, Direction d) {
  Array& a = arrayAt(handle);
  need(x + width <= a.rowBytes() && y + height <= a.height(), Code::InvalidValue, "a box reaches out of the array");
  if (width == 0 || height == 0) return;
  std::byte* const t = destinationOf(to, pitch * (height - 1) + width, d);
  for (size_t i = 0; i < height; ++i) std::memcpy(t + i * pitch, a.texel(0, y + i, 0) + x, width);
}

}  // namespace
}  // namespace ptxopt::emulate

using namespace ptxopt::emulate;

CUDA_API(cudaCreateChannelDesc) ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {{x, y, z, w}, kind};
}
CUDA_API(cudaMallocArray)
int cudaMallocArray(void** array, const ChannelFormat* format, size_t width, size_t height, unsigned flags) {
  return answer(__func__, [&] { out(array) = newArray(out(format), {width, height, 0}, flags); });
}
CUDA_API(cudaMalloc3DArray)
int cudaMalloc3DArray(void** array, const ChannelFormat* format, Extent extent, unsigned flags) {
  return answer(__func__, [&] { out(array) = newArray(out(format), extent, flags); });
}
CUDA_API(cudaFreeArray) int cudaFreeArray(void* array) {
  return answer(__func__, [&] {
    if (array == nullptr) return;
    Array* const a = &arrayAt(array);
    arrays().erase(a);
    delete a;
  });
}
CUDA_API(cudaArrayGetInfo)
int cudaArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned* flags, void* array) {
  return answer(__func__, [&] {
    const Array& a = arrayAt(array);
    if (format != nullptr) *format = a.format;
    if (extent != nullptr) *extent = a.extent;
    if (flags != nullptr) *flags = a.flags;
  });
}
CUDA_API(cudaGetChannelDesc) int cudaGetChannelDesc(ChannelFormat* format, const void* array) {
  return answer(__func__, [&] { out(format) = arrayAt(array).format; });
}

CUDA_API(cudaMemcpyToArray)
int cudaMemcpyToArray(void* array, size_t x, size_t y, const void* from, size_t bytes, int kind) {
  return answer(__func__, [&] {
    if (bytes != 0)
      std::memcpy(runOf(arrayAt(array), x, y, bytes), sourceOf(from, bytes, directionOf(kind)), bytes);
  });
}
CUDA_API(cudaMemcpyFromArray)
int cudaMemcpyFromArray(void* to, const void* array, size_t x, size_t y, size_t bytes, int kind) {
  return answer(__func__, [&] {
    if (bytes != 0)
      std::memcpy(destinationOf(to, bytes, directionOf(kind)), runOf(arrayAt(array), x, y, bytes), bytes);
  });
}
CUDA_API(cudaMemcpy2DToArray)
int cudaMemcpy2DToArray(void* array, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                        size_t height, int kind) {
  return answer(__func__, [&] { rowsTo(array, x, y, from, pitch, width, height, directionOf(kind)); });
}
CUDA_API(cudaMemcpy2DToArrayAsync)
int cudaMemcpy2DToArrayAsync(void* array, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                             size_t height, int kind, void* stream) {
  return answer(__func__, [&] {
    State::get().enqueue(stream, NodeType::Copy,
                         [=] { rowsTo(array, x, y, from, pitch, width, height, directionOf(kind)); });
  });
}
CUDA_API(cudaMemcpy2DFromArray)
int cudaMemcpy2DFromArray(void* to, size_t pitch, void* array, size_t x, size_t y, size_t width, size_t height,
                          int kind) {
  return answer(__func__, [&] { rowsFrom(to, pitch, array, x, y, width, height, directionOf(kind)); });
}
CUDA_API(cudaMemcpy2DFromArrayAsync)
int cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, void* array, size_t x, size_t y, size_t width, size_t height,
                               int kind, void* stream) {
  return answer(__func__, [&] {
    State::get().enqueue(stream, NodeType::Copy,
                         [=] { rowsFrom(to, pitch, array, x, y, width, height, directionOf(kind)); });
  });
}
