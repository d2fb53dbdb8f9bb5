// Prints the estimates of register counts for the kernels of PTX files, one JSON object a kernel and line:
//   {"file", "kernel", "units", "kept", "eager", "slots", "spilled", "plain", "fat_point", "limit", "calls",
//   "instructions"}
// tests/codegen/calibration/run.py compares them with what ptxas gives.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "analysis/machine/register_estimate.h"
#include "analysis/values/uniform_registers.h"
#include "text/parse.h"

namespace {

using namespace ptxopt;

void printKernel(const std::string& file, const Module& module, const Function& f) {
  const Cfg cfg(module, f);
  if (!cfg.complete()) return;
  const SlotIndexes slots(f, cfg);
  const DominatorTree dominators(cfg, DominatorTree::Direction::Dominators);
  const LiveIntervals intervals(f, cfg, slots, &dominators);
  const RegisterPressure pressure(module, f, cfg, slots, intervals, findRegisterFiles(module, f, cfg, dominators));
  const RegisterEstimate e = estimateRegisters(module, f, pressure);
  const nlohmann::json line{{"file", file},
                            {"kernel", module.text(f.name)},
                            {"units", e.mostUnits},
                            {"kept", e.mostAllocated},
                            {"eager", e.eager},
                            {"slots", e.slots},
                            {"spilled", e.spilled},
                            {"plain", e.plain},
                            {"fat_point", e.fatPoint},
                            {"limit", e.limit},
                            {"calls", e.hasCalls},
                            {"instructions", pressure.points().size() - cfg.size()}};
  fmt::print("{}\n", line.dump());
}

}  // namespace

int main(int argc, char** argv) {
  int status = 0;
  for (int i = 1; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    const std::string source{std::istreambuf_iterator<char>(in), {}};
    const auto parsed = text::parse(source, argv[i]);
    if (const auto* error = std::get_if<text::ParseError>(&parsed)) {
      fmt::print(stderr, "{}", text::render(*error, argv[i]));
      status = 1;
      continue;
    }
    const Module& module = *std::get<0>(parsed);
    for (const Function& f : module.functions)
      if (f.isEntry && f.hasBody) printKernel(argv[i], module, f);
  }
  return status;
}
