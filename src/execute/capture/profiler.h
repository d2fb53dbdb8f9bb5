// The profile of what a program launches on a GPU (docs/profile.md): blocks, parameters, and microseconds. No memory is read.
//
// A launch is waited for before and after it, so that its time is its own. Kernels without PTX are not in it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "capture/launch.h"
#include "capture/modules.h"
#include "profiling/kernel_reads.h"

namespace ptxopt::capture {

class Profiler {
 public:
  // For a kernel whose PTX was parsed. What is wrong with the launch; empty: it was added.
  std::string add(const KnownKernel& kernel, const Launch& l, double microseconds,
                  const profiling::IsMemory& isMemory);
  bool isEmpty() const { return kernels_.empty(); }
  // Writes the file. Why not; empty: it is written.
  std::string write(const std::string& path) const;

 private:
  struct Kernel {
    std::shared_ptr<LoadedPtx> ptx;  // which stays, so that no other takes its place
    const Function* function;
    profile::SeenKernel seen;
    std::vector<profiling::ReadPart> parts;
  };
  std::map<std::pair<const LoadedPtx*, std::string>, Kernel> kernels_;
};

}  // namespace ptxopt::capture
