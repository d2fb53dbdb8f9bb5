// Modules and kernels are kept by handle, guarded by one lock that is not held during calls of the driver. A kernel
// that is looked up again through a library, a module or a function gets the same entry.
#include "jit/compared_kernels.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>

#include "interpose/relaxed.h"
#include "jit/driver.h"
#include "jit/log.h"
#include "jit/protocol.h"

namespace ptxopt::jit {
namespace {

std::vector<Parameter> parametersOf(const std::string& words) {
  std::vector<Parameter> parameters;
  std::istringstream in(words);
  for (std::string word; std::getline(in, word, ',');)
    if (Parameter p; std::sscanf(word.c_str(), "%u+%u", &p.offset, &p.bytes) == 2) parameters.push_back(p);
  return parameters;
}

// By its name; nullptr: there is none.
void* kernelNamed(void* module, bool isLibrary, const std::string& name) {
  auto* const find =
      driver<int(void**, void*, const char*)>(isLibrary ? "cuLibraryGetKernel" : "cuModuleGetFunction");
  void* kernel = nullptr;
  const interpose::Relaxed relaxed;
  return find != nullptr && find(&kernel, module, name.c_str()) == 0 ? kernel : nullptr;
}

}  // namespace

ComparedKernels::ComparedKernels() {
  static const pid_t process = getpid();
  std::atexit([] {
    if (getpid() == process) get().finish();  // not in a child that began as a copy
  });
}

ComparedKernels& ComparedKernels::get() {
  static auto* const kernels = new ComparedKernels;  // never ended: programs call in until the very end
  return *kernels;
}

bool ComparedKernels::loaded(void* handle, bool isLibrary, const Image& image, const Answer& answer) {
  try {
    add(handle, isLibrary, image, answer);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void ComparedKernels::add(void* handle, bool isLibrary, const Image& image, const Answer& answer) {
  const auto module = std::make_shared<ComparedModule>();
  const auto entry = std::make_shared<Entry>();
  module->handle = handle;
  module->isLibrary = isLibrary;
  entry->module = module;
  std::istringstream records(answer.originals);
  for (std::string record; std::getline(records, record, '\t');) {
    std::istringstream in(record);
    std::string kind, name, parameters;
    in >> kind >> name >> parameters;
    if (kind == "h") module->usesHeap = true;
    if (kind == "d") module->keys = name;
    if (kind == "v" || kind == "w") module->variables.push_back({name, kind == "v"});
    if (kind != "k") continue;
    const auto kernel = std::make_shared<ComparedKernel>();
    kernel->counts.name = name;
    kernel->counts.module = digestOf(image.bytes);
    kernel->parameters = parametersOf(parameters);
    kernel->module = module;
    std::getline(in >> std::ws, kernel->refusal);
    entry->kernels[name] = kernel;
  }
  const std::lock_guard guard(lock_);
  usesHeap_ |= module->usesHeap;
  modules_[handle] = entry;
  for (const auto& [name, kernel] : entry->kernels) all_.push_back(kernel);
}

void ComparedKernels::unloaded(void* module) {
  const std::lock_guard guard(lock_);
  const auto entry = modules_.find(module);
  if (entry == modules_.end()) return;
  std::erase_if(handles_, [&](const auto& h) { return h.second.kernel->module == entry->second->module; });
  const auto gone = entry->second;
  std::erase_if(modules_, [&](const auto& m) { return m.second == gone; });
}

void ComparedKernels::same(void* module, void* library) {
  const std::lock_guard guard(lock_);
  if (const auto entry = modules_.find(library); entry != modules_.end()) modules_[module] = entry->second;
}

void ComparedKernels::found(void* kernel, void* module, bool isLibrary, const char* name) {
  if (name == nullptr) return;
  std::shared_ptr<ComparedKernel> compared;
  {
    const std::lock_guard guard(lock_);
    const auto entry = modules_.find(module);
    if (entry != modules_.end())
      if (const auto at = entry->second->kernels.find(std::string_view(name)); at != entry->second->kernels.end())
        compared = at->second;
    // For a module that is gone.
    if (const auto known = handles_.find(kernel); known != handles_.end() && known->second.kernel != compared)
      handles_.erase(known);
    if (compared == nullptr) return;
  }
  // Not locked: the driver may take its time.
  void* const original = kernelNamed(module, isLibrary, std::string(name) + kOriginalSuffix);
  const std::lock_guard guard(lock_);
  if (original != nullptr) handles_[kernel] = {compared, original};
}

void ComparedKernels::function(void* function, void* kernel) {
  static auto* const functionOf = driver<int(void**, void*)>("cuKernelGetFunction");
  const ComparedHandle known = find(kernel);
  void* original = nullptr;
  const interpose::Relaxed relaxed;
  if (known.kernel == nullptr || functionOf == nullptr || functionOf(&original, known.original) != 0) return;
  const std::lock_guard guard(lock_);
  handles_[function] = {known.kernel, original};
}

ComparedHandle ComparedKernels::find(void* kernel) {
  const std::lock_guard guard(lock_);
  const auto at = handles_.find(kernel);
  return at != handles_.end() ? at->second : ComparedHandle();
}

bool ComparedKernels::has(void* module) {
  const std::lock_guard guard(lock_);
  return modules_.contains(module);
}

bool ComparedKernels::usesHeap() {
  const std::lock_guard guard(lock_);
  return usesHeap_;
}

void ComparedKernels::finish() {
  // A thread that is at it now may never come back.
  const std::unique_lock lock(lock_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  for (const auto& kernel : all_)
    if (kernel->counts.launches != 0 || !kernel->counts.notCompared.empty()) noteLaunches(kernel->counts);
}

}  // namespace ptxopt::jit
