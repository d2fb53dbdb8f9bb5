// A launch: its shape and arguments checked as a device checks them, run, and where that was asked for run again with the
// optimized PTX and compared.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emulate/image.h"
#include "emulate/loaded_module.h"
#include "emulate/profile.h"
#include "emulate/settings.h"
#include "profiling/launch_profiler.h"
#include "record/recorder.h"

namespace ptxopt::emulate {

struct Kernel {
  static constexpr uint32_t kUsualShared = 48u << 10;

  LoadedModule* module = nullptr;
  std::string name;
  uint32_t mostDynamicShared = kUsualShared;  // that launches may ask for: an attribute
  bool allowsLargeClusters = false;
  exec::Dim3 cluster;  // an attribute

  const exec::Program& program() const { return module->plain.machine->kernel(name); }
};

struct LaunchShape {
  exec::Dim3 grid, block, cluster;
  uint32_t shared = 0;  // dynamic, in bytes
  bool isCooperative = false;
};

// The arguments, laid out as the kernel has them; `places` are those of its parameters. Throws Failure.
std::vector<std::byte> packArguments(const Kernel& kernel, void* const* places);

class Launcher {
 public:
  Launcher(Memory& memory, const Settings& settings)
      : memory_(memory),
        settings_(settings),
        recorder_({settings.recordFolder, settings.recordKernel, settings.recordMost}) {}

  // Throws Failure. One that `hasHarmed` leaves the device unusable, as a fault of a kernel does.
  void launch(Kernel& kernel, const LaunchShape& shape, const std::vector<std::byte>& arguments, bool& hasHarmed);
  // The module is about to go.
  void forget(const LoadedModule& module) { profiler_.forget(*module.plain.module); }
  // Those that the launches see; by handle.
  Textures& textures() { return textures_; }
  Totals& totals() { return totals_; }
  // Warp instructions so far, with Settings::countsTime.
  uint64_t steps() const { return steps_; }

 private:
  void run(LoadedVersion& version, const Kernel& kernel, exec::LaunchConfig& config, std::string* output);
  // Runs it once more beforehand, and puts memory back.
  void count(const Kernel& kernel, const exec::LaunchConfig& config, ThreadInstructions& instructions);
  void profile(const Kernel& kernel, exec::LaunchConfig& config);
  void profileFacts(const Kernel& kernel, exec::LaunchConfig& config);
  void writeProfileFacts() const;
  void runBoth(const Kernel& kernel, exec::LaunchConfig& config, const LaunchShape& shape);
  void report(const Kernel& kernel, const LaunchShape& shape, const std::string& what) const;

  Memory& memory_;
  const Settings& settings_;
  record::Recorder recorder_;
  Totals totals_;
  Profile profile_;
  profiling::LaunchProfiler profiler_;
  Textures textures_;
  uint64_t workspace_ = 0;  // of cooperative launches
  uint64_t steps_ = 0;
};

}  // namespace ptxopt::emulate
