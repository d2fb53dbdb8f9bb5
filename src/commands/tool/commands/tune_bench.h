// What `ptxopt tune --measure gpu` asks of a GPU: variants of a kernel are compared with the input and timed on its launches.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/replay.h"
#include "ptxas/assemble.h"
#include "tune/device.h"

namespace ptxopt::tool {

struct GpuBenchSettings {
  struct NamedLaunch {
    std::string name;  // "launch 3: ", for messages
    gpu::GpuLaunch launch;
  };
  std::vector<NamedLaunch> launches;
  std::shared_ptr<const void> owner;  // of what these point to
  std::shared_ptr<const Module> module;
  gpu::ReplayOptions replay;
  bool driverAssembles = false;
  ptxas::PtxasSettings ptxas;
  std::string architecture;
};

class GpuBench {
 public:
  explicit GpuBench(GpuBenchSettings settings) : settings_(std::move(settings)) {}

  // Runs the input alone. Empty, or why nothing can be timed. Launches that cannot be run on the device are left out unless all
  // are.
  std::string begin(std::string_view input);
  // For all launches together: the sum of their times.
  tune::DeviceTime time(std::string_view text) const;
  const std::string& device() const { return device_; }  // its name, after begin()

 private:
  // What the driver gets; empty with the reason.
  std::string imageOf(std::string_view text, std::string& error) const;

  GpuBenchSettings settings_;
  std::string input_, device_;  // input_: its image
};

}  // namespace ptxopt::tool
