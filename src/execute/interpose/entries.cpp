// Who asks the driver for its functions by name gets the library's instead.
#include <cstdint>

#include "interpose/real.h"

#pragma GCC diagnostic ignored "-Wmissing-declarations"

using namespace ptxopt::interpose;

namespace {
constexpr uint64_t kPerThread = 2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
}

INTERPOSED cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  const int result = call(REAL(cuGetProcAddress), name, function, version, flags);
  if (result == 0 && function != nullptr) *function = exchanged(name, *function, (flags & kPerThread) != 0);
  return result;
}
INTERPOSED cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status) {
  const int result = call(REAL(cuGetProcAddress_v2), name, function, version, flags, status);
  if (result == 0 && function != nullptr) *function = exchanged(name, *function, (flags & kPerThread) != 0);
  return result;
}
