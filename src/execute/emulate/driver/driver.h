// The functions of the CUDA driver that programs and frameworks load PTX with, on the same state as those of the runtime: a
// program may use both.
//
// There is one device and, as far as programs can see, one context, which is always current. Functions whose meaning has
// changed are exported under the names that headers of CUDA 12 and 13 give them (cuMemAlloc_v2).
#pragma once

#include "emulate/runtime/exported.h"

namespace ptxopt::emulate {

// The driver's result for an error.
int resultOf(Code code);
const char* resultName(int result);

// As answer() of the runtime; the last error stays what it was, since the driver has none.
using Answer = int (*)(const char* call, const std::function<void()>& body);
int answerDriver(const char* call, const std::function<void()>& body, Answer by = answer);

// A module is a registered fat binary, and its functions are kernels that are registered under their own addresses.
Registered& moduleAt(void* handle);

// What a function of the runtime answered, as the driver says it. The runtime's last error stays what it was.
template <typename F, typename... Arguments>
int byRuntime(F function, Arguments... arguments) {
  const int before = lastError();
  const int error = function(arguments...);
  lastError() = before;
  return resultOf(static_cast<Code>(error));
}

}  // namespace ptxopt::emulate
