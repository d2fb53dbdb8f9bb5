// `ptxopt replay --gpu`: recorded launches on this machine's GPU, before and after.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "gpu/replay.h"
#include "ptxas/assemble.h"

namespace CLI {
class App;
}

namespace ptxopt::tool {

// A PTX text and its module.
struct ReplayText {
  std::string name, text;
  std::unique_ptr<Module> module;
};

struct ReplayGpuLine {
  bool isAsked = false;
  gpu::ReplayOptions options;
  std::string load = "ptx", ptxas, json;

  void addTo(CLI::App& app);
};

// The texts of a module: before and, where there is one, after.
struct ReplaySides {
  const ReplayText* before = nullptr;
  const ReplayText* after = nullptr;
};

// Returns the exit code. `textsOf` may throw record::RecordError.
int replayOnGpu(const ReplayGpuLine& line, const record::Archive& archive, const std::vector<bool>& wanted,
                const std::function<ReplaySides(uint64_t module)>& textsOf);

// The machine code that ptxas makes of a text; empty with what it says.
std::string cubinOf(std::string_view text, const std::string& architecture, ptxas::PtxasSettings settings,
                    std::string& error);

}  // namespace ptxopt::tool
