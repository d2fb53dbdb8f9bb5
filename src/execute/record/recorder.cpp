#include "record/recorder.h"

#include <algorithm>

#include "support/demangle.h"

namespace ptxopt::record {
namespace {

std::string_view textOf(const exec::Allocation& a) { return {reinterpret_cast<const char*>(a.data), a.size}; }

}  // namespace

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
  now_ = {};
  now_.kernel = kernel;
  now_.module = modules_.at(&module);
  now_.grid = config.grid;
  now_.block = config.block;
  now_.cluster = config.cluster;
  now_.shared = config.dynamicShared;
  now_.parameters = config.parameters;
  for (unsigned i = 0; i < config.environment.size(); ++i)
    if (config.environment[i] != 0) now_.environment[i] = config.environment[i];
  const exec::Heap::State heap = machine.heap().state();
  now_.heapSize = machine.heapBytes();
  now_.heapUsed.assign(heap.used.begin(), heap.used.end());
  arrays_.clear();
  now_.textures = recordedTextures(machine, arrays_);
  for (const auto& [address, bytes] : arrays_)
    now_.memory.push_back(
        {"the array of a texture", address, bytes.size(), false, false, 0, folder_.keep(bytes), {}});
  std::map<const std::byte*, uint64_t> known;  // the first with these bytes
  for (auto& [base, a] : machine.memory().all()) {
    const bool isVariable = machine.placeOf(a.name, a.size) == &a;
    const auto alias = known.try_emplace(a.data, base).first->second;
    now_.memory.push_back(
        {a.name, base, a.size, a.readOnly, isVariable, alias != base ? alias : 0, folder_.keep(textOf(a)), {}});
  }
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
