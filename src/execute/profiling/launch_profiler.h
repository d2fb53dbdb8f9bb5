// The profile of launches in the interpreter: their classes, memory, loops, and the warp instructions that they took.
//
// Loops are counted where Machine::countsLoops was set before the kernel was decoded. A launch that fails is not counted.
#pragma once

#include <map>
#include <string>

#include "profiling/footprints.h"

namespace ptxopt::profiling {

class LaunchProfiler {
 public:
  // Runs a launch by `run`, whose configuration may have more than what was given, and adds it.
  void launch(exec::Machine& machine, const std::string& kernel, exec::LaunchConfig& config,
              const std::function<void(exec::LaunchConfig&)>& run);
  // The module is about to go.
  void forget(const Module& module);
  // What was launched so far.
  profile::File file() const;
  uint64_t launches() const { return launches_; }

 private:
  struct Kernel {
    const Module* module;
    profile::SeenKernel seen;
    std::vector<ReadPart> parts;
    FootprintFinder footprints;
    std::vector<profile::SeenLoop> loops;  // by Program::loopCounters
  };
  Kernel& kernel(const exec::Program& program);
  static void takeLoops(Kernel& kernel, const exec::Program& program);
  static void addTo(profile::File& file, const Kernel& kernel);

  std::map<const Function*, Kernel> kernels_;
  profile::File forgotten_;
  uint64_t launches_ = 0;
};

}  // namespace ptxopt::profiling
