// What the directives of a kernel say of the shapes of its launches.
#pragma once

#include <cstdint>

#include "exec/shape.h"
#include "ir/module.h"

namespace ptxopt::emulate {

struct Limits {
  exec::Dim3 cluster{0, 0, 0};  // .reqnctapercluster
  exec::Dim3 exactly{0, 0, 0};  // .reqntid
  uint64_t mostThreads = 1024;  // .maxntid
};

Limits limitsOf(const Module& module, const Function& kernel);

}  // namespace ptxopt::emulate
