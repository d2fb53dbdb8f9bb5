#include "verify/run.h"

#include <fmt/format.h>

#include "text/parse.h"

namespace ptxopt::verify {

Run runTrial(exec::Machine& machine, const std::string& kernel, const KernelUse& use, const Trial& trial,
             uint64_t stepLimit, const RunOptions& options) {
  Run run;
  machine.reset();
  run.memory = std::make_unique<TrialMemory>(machine, use, trial, options.known);
  if (options.watch) run.memory->watchByte(options.watch->first, options.watch->second);
  machine.print = [&](std::string_view text) { run.printed += text; };
  exec::LaunchConfig config;
  config.grid = trial.grid;
  config.block = trial.block;
  config.cluster = trial.cluster;
  config.firstCluster = trial.firstCluster;
  config.dynamicShared = trial.dynamicShared;
  config.parameters = run.memory->parameters();
  config.parameters.resize(machine.kernel(kernel).parameterBytes());
  config.stepLimit = stepLimit;
  config.checkRaces = options.checks.races;
  config.checkGlobalRaces = options.checks.globalRaces;
  config.checkUninitialised = options.checks.uninitialised;
  config.checkDivisions = options.checks.divisions;
  config.unwritten = options.unwritten.value_or(trial.dirty ? kUnwritten : std::byte{0});
  config.observer = options.observer;
  try {
    machine.launch(kernel, config);
  } catch (const exec::ExecError& e) {
    run.fault = e;
  }
  machine.print = nullptr;
  return run;
}

std::string describe(const Module& m, const exec::ExecError& e) {
  std::string text = fmt::format("{}: {}", exec::name(e.kind), e.message);
  if (e.source != 0) text = fmt::format("{}:{}: {}", m.fileName, locate(m.source, e.source).line, text);
  if (!e.thread.empty()) text += ", " + e.thread;
  return text;
}

}  // namespace ptxopt::verify
