// `ptxopt tune --measure gpu --records FILE`: variants of a kernel are compared and timed on its recorded launches.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/replay.h"
#include "ptxas/assemble.h"
#include "tool/commands/launch_list.h"
#include "tune/device.h"

namespace ptxopt::tool {

struct RecordBenchSettings {
  std::string file;
  LaunchList launches;  // whose kernel is the mangled one
  gpu::ReplayOptions replay;
  bool driverAssembles = false;
  PtxasSettings ptxas;
  std::string architecture;
};

class RecordBench {
 public:
  // Throws record::RecordError.
  explicit RecordBench(RecordBenchSettings settings);

  // Runs the input alone. Empty, or why nothing can be timed. Launches that cannot be run on the device are left out unless all
  // are.
  std::string begin(std::string_view input);
  // Of all launches together: the sum of their times.
  DeviceTime time(std::string_view text) const;
  const std::string& device() const { return device_; }

 private:
  // What the driver gets; empty with what ptxas says.
  std::string imageOf(std::string_view text, std::string& error) const;

  RecordBenchSettings settings_;
  record::Archive archive_;
  std::string input_, inputImage_, device_;
  std::unique_ptr<Module> module_;
  std::vector<std::size_t> launches_;  // index
};

}  // namespace ptxopt::tool
