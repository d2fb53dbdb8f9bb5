// Memory and textures are copied into the folder before the launch and again after it, by digest, so that unchanged
// contents are kept once.
#include "record/recorder.h"

#include <algorithm>

#include "support/demangle.h"

namespace ptxopt::record {
namespace {

std::string_view textOf(const exec::Allocation& a) { return {reinterpret_cast<const char*>(a.data), a.size}; }

}  // namespace

RecordedLaunch launchOf(std::string_view kernel, const exec::LaunchConfig& config, exec::Machine& machine,
                        const std::function<std::string(std::string_view bytes)>& keep, Arrays& arrays) {
  RecordedLaunch launch;
  launch.kernel = kernel;
  launch.grid = config.grid;
  launch.block = config.block;
  launch.cluster = config.cluster;
  launch.shared = config.dynamicShared;
  launch.parameters = config.parameters;
  for (unsigned i = 0; i < config.environment.size(); ++i)
    if (config.environment[i] != 0) launch.environment[i] = config.environment[i];
  const exec::Heap::State heap = machine.heap().state();
  launch.heapSize = machine.heapBytes();
  launch.heapUsed.assign(heap.used.begin(), heap.used.end());
  launch.textures = recordedTextures(machine, arrays);
  for (const auto& [address, bytes] : arrays)
    launch.memory.push_back({"the array of a texture", address, bytes.size(), false, false, 0, keep(bytes), {}});
  std::map<const std::byte*, uint64_t> known;  // the first with these bytes
  for (auto& [base, a] : machine.memory().all()) {
    const bool isVariable = machine.placeOf(a.name, a.size) == &a;
    const auto alias = known.try_emplace(a.data, base).first->second;
    launch.memory.push_back(
        {a.name, base, a.size, a.readOnly, isVariable, alias != base ? alias : 0, keep(textOf(a)), {}});
  }
  return launch;
}

bool Selection::wants(std::string_view name, uint64_t soFar) const {
  if (folder.empty() || soFar >= most) return false;
  const auto names = calledNames(name);
  return kernel.empty() || std::find(names.begin(), names.end(), kernel) != names.end();
}

bool Recorder::begin(const Module& module, std::string_view kernel, const exec::LaunchConfig& config,
                     exec::Machine& machine) {
  if (!selection_.wants(kernel, launches_)) return false;
  ++launches_;
  if (!modules_.contains(&module)) modules_[&module] = folder_.addModule(module.fileName, module.source);
  arrays_.clear();
  now_ = launchOf(
      kernel, config, machine, [&](std::string_view bytes) { return folder_.keep(bytes); }, arrays_);
  now_.module = modules_.at(&module);
  folder_.write(launches_, now_);
  return true;
}

void Recorder::end(exec::Machine& machine) {
  for (RecordedMemory& m : now_.memory)
    if (const auto array = arrays_.find(m.address); array != arrays_.end())
      m.after = folder_.keep(array->second);
    else if (const exec::Allocation* const a = machine.memory().find(m.address))
      m.after = folder_.keep(textOf(*a));
  folder_.write(launches_, now_);
}

}  // namespace ptxopt::record
