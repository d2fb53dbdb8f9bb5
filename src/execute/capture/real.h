// The functions of the driver that ours stand for, and how others are kept from seeing them.
//
// A program comes to the driver in three ways: it is linked with it, and the dynamic linker finds our functions first; it asks
// dlsym(), which is ours too; or it asks cuGetProcAddress(), whose answers are exchanged. The CUDA runtime, shared or not,
// does the last two.
#pragma once

#include <cstddef>

namespace ptxopt::capture {

enum class Id : unsigned {
#define CAPTURE_FUNCTION(name) name,
#include "capture/functions.def"
};

// The driver's function; nullptr where it has none.
void* realFunction(Id id);
// Any other function of the driver, by its exact name.
void* driverFunction(const char* name);
// What is to be given to who asked the driver for `name` and got `found`: our function, or `found`. `isPerThread`: for the
// default stream of one a thread.
void* exchanged(const char* name, void* found, bool isPerThread);
// Ours of this exact name; nullptr for others.
void* ours(const char* name);

// real(Id::cuMemAlloc_v2, cuMemAlloc_v2)(...): typed as ours is.
template <typename F>
F* real(Id id, F*) {
  return reinterpret_cast<F*>(realFunction(id));
}

}  // namespace ptxopt::capture
