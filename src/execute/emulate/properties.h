// What the device says of itself. It is not a GPU that exists: it has the limits of its architecture.
#pragma once

#include <cstdint>

namespace ptxopt::emulate {

// For cudaDeviceGetAttribute; 0 for what is not known.
int deviceAttribute(int attribute, unsigned architecture);

constexpr int kMultiprocessors = 16;
constexpr const char* kDeviceName = "the interpreter of ptxopt";

}  // namespace ptxopt::emulate
