// CUDA arrays: texels in 1, 2 or 3 dimensions, or layers.
#pragma once

#include <vector>

#include "emulate/runtime/abi.h"
#include "exec/texture.h"

namespace ptxopt::emulate {

struct Array {
  ChannelFormat format;
  Extent extent;  // as asked for: 0 where a dimension is not there
  unsigned flags = 0;
  std::vector<std::byte> bytes;

  size_t width() const { return std::max<size_t>(extent.width, 1); }
  size_t height() const { return std::max<size_t>(extent.height, 1); }
  size_t depth() const { return std::max<size_t>(extent.depth, 1); }
  bool isLayered() const { return (flags & 1) != 0; }
  bool isCube() const { return (flags & 4) != 0; }
  size_t elementBytes() const;
  size_t rowBytes() const { return width() * elementBytes(); }
  size_t sliceBytes() const { return rowBytes() * height(); }
  std::byte* texel(size_t x, size_t y, size_t z) {
    return bytes.data() + z * sliceBytes() + y * rowBytes() + x * elementBytes();
  }
  // Throws Failure where a box reaches out of it.
  void needInside(const Position& at, const Extent& box) const;
};

unsigned channelsOf(const ChannelFormat& format);
// `normalized`: integers are read as floats of 0 to 1.
exec::TexelFormat texelFormat(const ChannelFormat& format, bool normalized);

// Throws Failure where no array has this handle.
Array& arrayAt(const void* handle);

}  // namespace ptxopt::emulate
