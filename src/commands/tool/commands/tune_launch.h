// The launch that `ptxopt tune --measure gpu` makes of its options, with the arguments of `ptxopt run`.
//
// Memory is laid out and filled as `ptxopt run` does it. The kernel is not decoded: the interpreter's limits do not matter. Other inputs fill the buffers that are `random` with what `ptxopt verify` tries.
// Declined: variables of the module whose initial values are addresses. The driver places variables and functions elsewhere,
// so these stay as it loads them, and are not compared.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/shape.h"
#include "gpu/launch_memory.h"
#include "ir/module.h"
#include "tool/commands/run_memory.h"

namespace ptxopt::tool {

struct TuneLaunch {
  std::string kernel;  // as mangled
  exec::Dim3 grid, block, cluster;
  uint32_t shared = 0;
  std::vector<std::string> arguments;
  uint64_t seed = 0;
  unsigned inputs = 1;
};

class MadeLaunch {
 public:
  // Throws RunError, exec::ExecError.
  MadeLaunch(const Module& module, const TuneLaunch& wanted);

  // Refers to this object.
  gpu::GpuLaunch launch() const;

 private:
  std::string keep(std::string_view bytes);
  void leaveOutAddresses(const Module& module, const std::vector<RunMemory::Pointer>& pointers);

  record::RecordedLaunch launch_;
  std::vector<gpu::GpuLaunch::Pointer> pointers_;
  std::vector<std::vector<std::string>> inputs_;
  std::unordered_map<std::string, std::string> bytes_;  // by digest
};

}  // namespace ptxopt::tool
