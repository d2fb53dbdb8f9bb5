// A launch as a program asks for it, and its arguments as the kernel has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exec/shape.h"
#include "ir/module.h"

namespace ptxopt::capture {

struct Launch {
  const void* function = nullptr;
  exec::Dim3 grid, block, cluster;
  uint32_t shared = 0;
  bool isCooperative = false;
  void* stream = nullptr;
  void** parameters = nullptr;
  void** extra = nullptr;
};

const Function* kernelNamed(const Module& module, const std::string& name);
// The arguments in one piece; empty `error`, or why there are none.
std::vector<std::byte> packed(const Module& module, const Function& kernel, const Launch& l, std::string& error);

}  // namespace ptxopt::capture
