// Comparing and timing texts on a GPU, by the program of the GPU bench (docs/gpu-bench.md, tests/gpu/job.py).
//
// Each text is a job of its own, in a process of its own: after a kernel fails, a process can do nothing more on a device. A
// job runs the input and the text on the same memory, compares all bytes, and times both in turn. Texts are assembled
// here, or by the driver.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ptxas/assemble.h"
#include "support/temporary_folder.h"
#include "tune/device.h"

namespace ptxopt {

struct GpuLaunch {
  std::string kernel;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  uint64_t shared = 0;
  std::vector<std::string> arguments;  // as `ptxopt run` takes them, files with their whole paths
};

struct GpuSettings {
  std::string folder;  // with job.py
  std::string python = "python3";
  GpuLaunch launch;
  double seconds = 1;   // to time a text
  unsigned inputs = 4;  // to compare on; the first is that of the arguments
  uint64_t seed = 0;
  bool driverAssembles = false;
  double timeoutSeconds = 600;  // of one job
  PtxasSettings ptxas;
  std::string architecture;
};

class GpuBench {
 public:
  explicit GpuBench(GpuSettings settings);

  // Runs the input alone. Empty, or why nothing can be timed: no Python, no driver, no device, arguments that do not fit, a
  // result that is not determined.
  std::string begin(std::string_view input);
  DeviceTime time(std::string_view text) const;
  const std::string& device() const { return device_; }  // its name, after begin()

 private:
  struct Answer;
  std::string writeImage(std::string_view text, const std::string& name, std::string& error) const;
  Answer run(const std::vector<std::string>& images, bool isTimed) const;

  GpuSettings settings_;
  TemporaryFolder folder_;
  std::string input_;  // its image
  std::string device_;
};

}  // namespace ptxopt
