// Modules are loaded when something of them is first used. Every function of CUDA runs under the one lock, and its
// exceptions become CUDA's error codes; a fault of a kernel makes all later calls fail, as on a device.
#include "emulate/state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "emulate/fat_binary.h"
#include "support/log.h"

namespace ptxopt::emulate {
namespace {

Settings settingsOfEnvironment() {
  log::setStandardError(log::levelOfEnvironment());
  const char* const json = std::getenv(kSettingsVariable);
  if (json == nullptr) return {};
  try {
    return readSettings(json);
  } catch (const std::exception& e) {
    log::asked(log::kEmulate, fmt::format("${}: {}", kSettingsVariable, e.what()));
    std::_Exit(2);
  }
}

// From -1 to 1, another one for each number.
double noiseOf(uint64_t number) {
  uint64_t x = (number + 1) * 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1;
}

}  // namespace

State::State()
    : settings(settingsOfEnvironment()), memory(settings.memory, settings.heap), launcher(memory, settings) {
  // A signal that kills ptxopt is meant for the program.
  if (settings.parent == getppid()) prctl(PR_SET_PDEATHSIG, SIGKILL);
}

State& State::get() {
  static State* const state = new State;
  return *state;
}

unsigned State::architecture() {
  if (architecture_ != 0) return architecture_;
  unsigned newest = settings.architecture;
  if (newest == 0)
    for (const auto& m : modules)
      if (m->container != nullptr) newest = std::max(newest, newestPtx(m->container, m->linked));
  constexpr unsigned kUsual = 80;
  return architecture_ = newest != 0 ? newest : kUsual;
}

LoadedModule& State::loaded(Registered& module) {
  if (module.loaded == nullptr) {
    std::string text =
        module.container != nullptr ? ptxOf(module.container, module.linked, architecture()) : module.text;
    module.loaded = loadModule(std::move(text), module.number, memory, settings);
    Totals& totals = launcher.totals();
    ++totals.modules;
    totals.changedModules += module.loaded->optimized != nullptr;
    totals.notOptimized += module.loaded->couldNotOptimize;
    totals.notKept += module.loaded->couldNotKeep;
    writeTotals();
  }
  return *module.loaded;
}

Kernel& State::kernel(const void* symbol) {
  const auto found = kernels.find(symbol);
  need(found != kernels.end(), Code::InvalidDeviceFunction, "no kernel was registered at this address");
  RegisteredKernel& k = found->second;
  if (k.kernel.module == nullptr) {
    k.kernel.module = &loaded(*k.owner);
    try {
      k.kernel.program();
    } catch (const exec::ExecError& e) {
      log::writeLines(log::Level::Error, log::kEmulate, describe(e, k.kernel.module->plain));
      k.kernel.module = nullptr;
      throw Failure{e.kind == exec::FaultKind::BadLaunch ? Code::InvalidDeviceFunction : Code::NotSupported,
                    e.message};
    }
  }
  return k.kernel;
}

exec::Allocation& State::variable(const void* symbol) {
  const auto found = variables.find(symbol);
  need(found != variables.end(), Code::InvalidSymbol, "no device variable was registered at this address");
  exec::Allocation* const a = loaded(*found->second.owner).plain.machine->variable(found->second.name);
  if (a == nullptr) throw Failure{Code::InvalidSymbol, "the PTX has no variable " + found->second.name};
  return *a;
}

// The host sees a managed variable where its bytes lie; kernels see it there too, and at its own address.
void State::placeManaged() {
  for (auto& [symbol, v] : variables) {
    if (v.managed == nullptr || v.isPlaced) continue;
    exec::Allocation& a = variable(symbol);
    memory.global().attach(v.name, reinterpret_cast<uint64_t>(a.data), {a.data, a.size});
    *v.managed = a.data;
    v.isPlaced = true;
  }
}

Stream* State::stream(void* handle) {
  constexpr uintptr_t kPerThread = 2;
  if (reinterpret_cast<uintptr_t>(handle) <= kPerThread) return nullptr;
  const auto found = streams.find(static_cast<Stream*>(handle));
  need(found != streams.end(), Code::InvalidResourceHandle, "no such stream");
  return *found;
}

Event& State::event(void* handle) {
  const auto found = events.find(static_cast<Event*>(handle));
  need(found != events.end(), Code::InvalidResourceHandle, "no such event");
  return **found;
}

namespace {
// In the order of the capture, which is one that the streams allow.
GraphNode& addCaptured(Graph& graph, NodeType type, std::function<void()> work) {
  auto node = std::make_shared<GraphNode>();
  node->type = type;
  node->work = std::move(work);
  if (!graph.nodes.empty()) node->after.push_back(graph.nodes.back().get());
  graph.nodes.push_back(std::move(node));
  return *graph.nodes.back();
}
}  // namespace

void State::enqueue(void* handle, NodeType type, std::function<void()> work) {
  Stream* const s = stream(handle);
  if (s == nullptr || s->captured == nullptr) return work();
  addCaptured(*s->captured, type, std::move(work));
}

void State::enqueue(void* handle, KernelCall made) {
  Stream* const s = stream(handle);
  if (s == nullptr || s->captured == nullptr) return made.run();
  const auto kept = std::make_shared<const KernelCall>(std::move(made));
  addCaptured(*s->captured, NodeType::Kernel, [kept] { kept->run(); }).call = kept;
}

void KernelCall::run() const { State::get().launch(*kernel, shape, arguments); }

KernelCall State::call(const void* function, const LaunchShape& shape, void* const* arguments) {
  Kernel& k = kernel(function);
  return {function, &k, shape, packArguments(k, arguments)};
}

void State::launch(Kernel& kernel, const LaunchShape& shape, const std::vector<std::byte>& arguments) {
  bool hasHarmed = false;
  try {
    launcher.launch(kernel, shape, arguments, hasHarmed);
  } catch (const Failure& f) {
    if (hasHarmed) harm = f.code;
    writeTotals();
    throw;
  }
  writeTotals();
}

void State::writeTotals() {
  if (settings.totals.empty()) return;
  static const int file = open(settings.totals.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  const Totals& totals = launcher.totals();
  if (pwrite(file, &totals, sizeof totals, 0) != static_cast<ssize_t>(sizeof totals)) return;
}

double State::now() const {
  if (settings.countsTime) return static_cast<double>(launcher.steps()) / 1000;
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double State::between(const Event& from, const Event& to) {
  return (to.milliseconds - from.milliseconds) * (1 + settings.noise * noiseOf(measured_++));
}

int& lastError() {
  thread_local int error = 0;
  return error;
}

int answerAnyway(const char* call, const std::function<void()>& body) {
  State& state = State::get();
  const std::lock_guard guard(state.lock);
  const auto failed = [&](Code code, const std::string& why) {
    if (state.settings.verbose && code != Code::NotReady)
      log::asked(log::kEmulate, fmt::format("{}: {}: {}", call, nameOf(static_cast<int>(code)), why));
    if (code != Code::NotReady) lastError() = static_cast<int>(code);
    return static_cast<int>(code);
  };
  try {
    body();
    return 0;
  } catch (const Failure& f) {
    if (f.code == Code::NoKernelImageForDevice || f.code == Code::InvalidPtx || f.code == Code::InvalidKernelImage)
      log::asked(log::kEmulate, fmt::format("{}: {}", call, f.why));
    return failed(f.code, f.why);
  } catch (const std::bad_alloc&) {
    return failed(Code::MemoryAllocation, "the host has no memory left");
  } catch (const std::exception& e) {
    // Nothing that CUDA has a name for: a record that cannot be written.
    log::asked(log::kEmulate, fmt::format("{}: {}", call, e.what()));
    return failed(Code::Unknown, e.what());
  }
}

int answer(const char* call, const std::function<void()>& body) {
  return answerAnyway(call, [&] {
    const Code harm = State::get().harm;
    if (harm != Code::Success) throw Failure{harm, "a kernel failed before"};
    body();
  });
}

int answerLaunch(const char* call, const std::function<void()>& body) {
  State& state = State::get();
  const std::lock_guard guard(state.lock);
  Totals& totals = state.launcher.totals();
  const uint64_t failed = totals.failed;
  const int error = answer(call, body);
  if (error == 0 || totals.failed != failed) return error;
  ++totals.refused;
  state.writeTotals();
  return error;
}

}  // namespace ptxopt::emulate
