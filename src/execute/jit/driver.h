// Functions of the driver that the library calls itself, by their names.
#pragma once

#include "interpose/real.h"

namespace ptxopt::jit {

template <typename F>
F* driver(const char* name) {
  return reinterpret_cast<F*>(interpose::driverFunction(name));
}

}  // namespace ptxopt::jit
