// Copying and filling memory: what the calls with and without streams, and the nodes of graphs, have in common.
#pragma once

#include "emulate/runtime/abi.h"
#include "emulate/state.h"

namespace ptxopt::emulate {

// cudaMemcpyKind
enum class Direction : int { HostToHost, HostToDevice, DeviceToHost, DeviceToDevice, Default };

// The place of `bytes` at one end of a copy; what the direction calls device memory has to be some.
std::byte* destinationOf(void* to, size_t bytes, Direction direction);
const std::byte* sourceOf(const void* from, size_t bytes, Direction direction);
Direction directionOf(int kind);

void copyBytes(void* to, const void* from, size_t bytes, Direction direction);
// Rows of `width` bytes.
void copyRows(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height,
              Direction direction);
void copyBox(const Copy3D& copy);
// Elements of 1, 2 or 4 bytes.
void fill(void* to, size_t pitch, unsigned value, size_t elementBytes, size_t width, size_t height);

}  // namespace ptxopt::emulate
