// `ptxopt tune --measure gpu`: its options, what times variants, and what is said of the times.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tool/commands/launch_list.h"
#include "tune/tune.h"

namespace CLI {
class App;
}

namespace ptxopt::tool {

// What compares and times variants.
struct DeviceBench {
  std::string device;  // its name
  std::function<tune::DeviceTime(std::string_view text)> time;
};

struct TuneGpuLine {
  std::string measure = "model", kernel, grid, block, cluster, load = "cubin", records, launches;
  RecordMemory memory;
  std::vector<std::string> arguments;
  uint64_t seed = 0;
  uint32_t shared = 0;
  double seconds = 1;
  unsigned inputs = 4;

  void addTo(CLI::App& app);
  bool isAsked() const { return measure == "gpu"; }
  // What is wrong with what was read; empty: nothing.
  std::string whatIsWrong(const CLI::App& app) const;
  // Ready to time variants of the text; none, with the reason. A kernel that was not named is the text's only one.
  std::optional<DeviceBench> bench(std::string_view text, const tune::TuneOptions& options, std::string& error);
};

// What was timed, for people.
std::string gpuText(const tune::TuneResult& result, const std::string& kernel, const std::string& device);

}  // namespace ptxopt::tool
