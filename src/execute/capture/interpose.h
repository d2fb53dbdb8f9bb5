// How a function of the driver is taken the place of:
//     CAPTURED cuMemFree_v2(uint64_t address) { ...; return call(REAL(cuMemFree_v2), address); }
#pragma once

#include "capture/capture.h"
#include "interpose/real.h"

#define CAPTURED INTERPOSED

#pragma GCC diagnostic ignored "-Wmissing-declarations"

namespace ptxopt::capture {

using interpose::call;
using interpose::driverFunction;

}  // namespace ptxopt::capture
