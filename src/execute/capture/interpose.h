// How a function of the driver is taken the place of:
//     CAPTURED cuMemFree_v2(uint64_t address) { ...; return call(REAL(cuMemFree_v2), address); }
#pragma once

#include "capture/capture.h"
#include "capture/real.h"

// Of these names, seen by programs.
#define CAPTURED extern "C" __attribute__((visibility("default"), used)) int
#define REAL(name) real(Id::name, name)

#pragma GCC diagnostic ignored "-Wmissing-declarations"

namespace ptxopt::capture {

constexpr int kNotSupported = 801;  // of a function that the driver does not have

// Calls the driver's function where it has one.
template <typename F, typename... Arguments>
int call(F* function, Arguments... arguments) {
  return function != nullptr ? function(arguments...) : kNotSupported;
}

}  // namespace ptxopt::capture
