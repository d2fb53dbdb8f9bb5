// What depends on the kernel alone is found on its first launch; each launch then adds a class with its shape, values,
// footprints and steps. Counters of loops are taken over and reset after each.
#include "profiling/launch_profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/dataflow/cfg.h"

namespace ptxopt::profiling {
namespace {

// FILE:LINE of a block: of its first line, otherwise of the last before it.
std::string placeOf(const Module& module, const Function& f, const Cfg& cfg, BlockId block) {
  const Loc* line = nullptr;
  bool isInside = false;
  for (const InstrId id : f) {
    isInside |= id == cfg[block].first;
    if (const Loc* const here = f.lineOf(f[id])) {
      line = here;
      if (isInside) break;
    }
    if (id == cfg[block].last) break;
  }
  if (line == nullptr) return {};
  const auto files = sourceFiles(module);
  const auto file = files.find(line->file);
  if (file == files.end()) return {};
  return fmt::format("{}:{}", std::filesystem::path(file->second).filename().string(), line->line);
}

std::vector<profile::SeenLoop> loopsOf(const exec::Program& program) {
  const Module& module = program.module();
  const Function& f = program.kernel();
  std::vector<profile::SeenLoop> loops;
  if (program.loopCounters().empty()) return loops;
  const Cfg cfg(module, f);
  const std::vector<LabelId> labels = profile::usedLabels(f);
  for (const exec::LoopCounter& counter : program.loopCounters()) {
    profile::SeenLoop& loop = loops.emplace_back();
    const auto label = std::ranges::find_if(
        labels, [&](LabelId l) { return cfg.blockOf(f.labels[l.value].place) == counter.header; });
    if (label == labels.end()) continue;
    loop.label = module.text(f.labels[label->value].name);
    loop.index = static_cast<uint32_t>(label - labels.begin());
    loop.place = placeOf(module, f, cfg, counter.header);
  }
  return loops;
}

NumberFact exactly(uint32_t n) { return {n, n}; }

}  // namespace

LaunchProfiler::Kernel& LaunchProfiler::kernel(const exec::Program& program) {
  const auto known = kernels_.find(&program.kernel());
  if (known != kernels_.end()) return known->second;
  const Module& module = program.module();
  const std::vector<ReadPart> parts = readParts(module, program.kernel());
  Kernel made{&module, unseenKernel(module, program.kernel()), parts,
              FootprintFinder(module, program.kernel(), parts), loopsOf(program)};
  return kernels_.emplace(&program.kernel(), std::move(made)).first->second;
}

void LaunchProfiler::takeLoops(Kernel& kernel, const exec::Program& program) {
  for (std::size_t i = 0; i < kernel.loops.size(); ++i) {
    exec::LoopCounter& counter = program.loopCounters()[i];
    const uint64_t entries = counter.entries.exchange(0), again = counter.iterations.exchange(0);
    kernel.loops[i].entries += entries;
    kernel.loops[i].iterations += again;
  }
}

void LaunchProfiler::launch(exec::Machine& machine, const std::string& name, exec::LaunchConfig& config,
                            const std::function<void(exec::LaunchConfig&)>& run) {
  const exec::Program& program = machine.kernel(name);
  Kernel& known = kernel(program);
  const auto footprints = known.footprints.run(machine, config, run);
  LaunchClass launched;
  launched.launches = 1;
  launched.time = static_cast<double>(machine.lastAllSteps());
  launched.block = {config.block.x, config.block.y, config.block.z};
  launched.grid = {exactly(config.grid.x), exactly(config.grid.y), exactly(config.grid.z)};
  launched.parts = valuesOf(known.parts, config.parameters,
                            [&](uint64_t address) { return machine.memory().find(address) != nullptr; });
  if (footprints) {
    launched.isMemoryKnown = true;
    launched.written = footprints->written;
    launched.overlapping = footprints->overlapping;
  }
  profile::addLaunches(known.seen, std::move(launched));
  takeLoops(known, program);
  ++launches_;
}

void LaunchProfiler::addTo(profile::File& file, const Kernel& kernel) {
  if (kernel.seen.launches == 0) return;
  profile::SeenKernel seen = kernel.seen;
  for (const profile::SeenLoop& loop : kernel.loops)
    if (!loop.label.empty()) seen.loops.push_back(loop);
  profile::add(file, std::move(seen));
}

void LaunchProfiler::forget(const Module& module) {
  for (auto k = kernels_.begin(); k != kernels_.end();) {
    if (k->second.module != &module) {
      ++k;
      continue;
    }
    addTo(forgotten_, k->second);
    k = kernels_.erase(k);
  }
}

profile::File LaunchProfiler::file() const {
  profile::File file = forgotten_;
  for (const auto& [function, known] : kernels_) addTo(file, known);
  profile::order(file);
  return file;
}

}  // namespace ptxopt::profiling
