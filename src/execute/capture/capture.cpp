// The order of steps: a launch that is wanted waits for the device, its memory is read, the launch is made, the device
// is waited for again, and the same memory is read once more. Two locks, one for records and one for state, let other
// threads call the driver meanwhile.
#include "capture/capture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "capture/device.h"
#include "emulate/limits.h"
#include "exec/error.h"
#include "exec/machine.h"
#include "interpose/allocations.h"
#include "support/log.h"

namespace ptxopt::capture {
namespace {

namespace fs = std::filesystem;
using record::RecordedLaunch;
using record::RecordedMemory;

// The barrier of a cooperative grid, as the driver gives it to kernels: its size, and a word that it counts in. Kernels that
// are replayed find it here.
constexpr uint64_t kWorkspace = 0x0000'6FFF'FFE0'0000;
constexpr std::string_view kFreshWorkspace("\x08\0\0\0\0\0\0\0", 8);

void say(const std::string& text) { log::asked(log::kCapture, text); }

template <typename F>
void forEachWord(std::string_view bytes, F&& f) {
  for (std::size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    f(word);
  }
}

}  // namespace

Capture::Capture() : settings_(Settings::fromEnvironment()), folder_(settings_.file + ".launches") {
  static const pid_t process = getpid();
  std::atexit([] {
    if (getpid() == process) get().finish();  // not in a child that began as a copy
  });
}

Capture& Capture::get() {
  static Capture* const capture = new Capture;  // never ended: programs call in until the very end
  return *capture;
}

bool Capture::mayBeWanted(const Launch& l) {
  const std::lock_guard guard(lock_);
  const KnownKernel* const kernel = modules.kernel(l.function);
  // What a stream that is captured is given becomes a part of a graph.
  return recorded_ < settings_.most && (kernel == nullptr || settings_.wants(kernel->name)) &&
         !isCapturing(l.stream);
}

bool Capture::isWanted(const Launch& l) {
  const KnownKernel* const kernel = modules.kernel(l.function);
  if (kernel == nullptr) {
    decline("a kernel that was not looked up by its name");
    return false;
  }
  if (!settings_.wants(kernel->name)) return false;
  ++matched_;
  if (matched_ <= settings_.skip || recorded_ >= settings_.most) return false;
  kernel->ptx->parse(architecture());
  if (kernel->ptx->module == nullptr) {
    decline(fmt::format("{} without PTX: {}", kernel->name, kernel->ptx->refusal));
    return false;
  }
  return true;
}

// Those of the kernel's module, where the driver put them.
void Capture::addVariables(const KnownKernel& kernel, std::vector<RecordedMemory>& entries,
                           std::vector<std::string>& contents) const {
  const Module& module = *kernel.ptx->module;
  for (const Variable& v : module.variables) {
    const DeclaredSpace space = module.declarationForms[v.form].space;
    if (space != DeclaredSpace::Global && space != DeclaredSpace::Const) continue;
    RecordedMemory m;
    m.name = module.text(v.name);
    m.isVariable = true;
    m.isReadOnly = space == DeclaredSpace::Const;
    std::string bytes;
    // ptxas leaves out variables that nothing uses.
    if (!findVariable(kernel.owner, kernel.isOfLibrary, m.name.c_str(), m.address, m.size)) continue;
    if (!readMemory(m.address, m.size, bytes)) continue;
    entries.push_back(std::move(m));
    contents.push_back(std::move(bytes));
  }
}

// What the launch sees, read now. False where it is more than was allowed.
bool Capture::addMemory(const RecordedLaunch& launch, std::vector<RecordedMemory>& entries,
                        std::vector<std::string>& contents) const {
  const uint64_t most = settings_.mostMiB << 20;
  uint64_t bytes = 0;
  const interpose::Allocations::Map memory =
      interpose::Allocations::get().with([](const auto& map) { return map; });
  std::vector<uint64_t> toVisit;
  std::map<uint64_t, bool> seen;
  const auto visit = [&](uint64_t address) {
    const auto holder = interpose::holderOf(memory, address);
    if (holder != memory.end() && seen.emplace(holder->first, true).second) toVisit.push_back(holder->first);
  };
  if (settings_.memory == Memory::All) {
    for (const auto& [base, range] : memory) visit(base);
  } else {
    forEachWord({reinterpret_cast<const char*>(launch.parameters.data()), launch.parameters.size()}, visit);
    for (const std::string& variable : contents) forEachWord(variable, visit);
  }
  while (!toVisit.empty()) {
    const uint64_t base = toVisit.back();
    toVisit.pop_back();
    const interpose::Allocation& range = memory.at(base);
    if ((bytes += range.size) > most) return false;
    RecordedMemory m;
    m.name = range.name;
    m.address = base;
    m.size = range.size;
    std::string read;
    if (!readMemory(base, range.size, read)) continue;
    if (settings_.memory == Memory::Reached) forEachWord(read, visit);
    entries.push_back(std::move(m));
    contents.push_back(std::move(read));
  }
  return true;
}

bool Capture::begin(const Launch& l, RecordedLaunch& launch) {
  {
    const std::lock_guard guard(lock_);
    if (!isWanted(l)) return false;
  }
  // Not locked: what the device does may wait for a thread that allocates.
  const bool isDone = waitForDevice();
  const std::lock_guard guard(lock_);
  if (!isDone) return decline("after a call that failed"), false;
  const KnownKernel& known = *modules.kernel(l.function);
  const Module& module = *known.ptx->module;
  const Function* const kernel = kernelNamed(module, known.name);
  if (kernel == nullptr) return decline("of a kernel that its PTX does not have"), false;
  launch.kernel = known.name;
  launch.grid = l.grid;
  launch.block = l.block;
  launch.cluster = l.cluster;
  if (const exec::Dim3 fixed = emulate::limitsOf(module, *kernel).cluster;
      fixed.count() != 0 && l.cluster.count() == 1)
    launch.cluster = fixed;
  launch.shared = l.shared;
  launch.heapSize = exec::DeviceMemory::kHeapBytes;
  launch.hasTextures = textures != 0;
  std::string error;
  try {
    launch.parameters = packed(module, *kernel, l, error);
  } catch (const exec::ExecError& e) {
    error = e.message;
  }
  if (!error.empty()) return decline(error), false;
  std::vector<std::string> contents;
  addVariables(known, launch.memory, contents);
  if (!addMemory(launch, launch.memory, contents))
    return decline(fmt::format("with more than {} MiB of memory", settings_.mostMiB)), false;
  if (l.isCooperative) {
    launch.environment[1] = static_cast<uint32_t>(kWorkspace >> 32);
    launch.environment[2] = static_cast<uint32_t>(kWorkspace);
    RecordedMemory m;
    m.name = "the barrier of the grid";
    m.address = kWorkspace;
    m.size = kFreshWorkspace.size();
    launch.memory.push_back(std::move(m));
    contents.emplace_back(kFreshWorkspace);
  }
  if (writer_ == nullptr) {
    makeFolder();
    writer_ = std::make_unique<record::FolderWriter>(folder_);
  }
  for (std::size_t i = 0; i < contents.size(); ++i) launch.memory[i].before = writer_->keep(contents[i]);
  std::sort(launch.memory.begin(), launch.memory.end(),
            [](const RecordedMemory& a, const RecordedMemory& b) { return a.address < b.address; });
  if (!known.ptx->index) known.ptx->index = writer_->addModule(known.ptx->name, known.ptx->text);
  launch.module = *known.ptx->index;
  writer_->write(++recorded_, launch);
  return true;
}

// One that was not there: what another run left in FILE.launches, or somebody else has there, stays.
void Capture::makeFolder() {
  constexpr int kMostFolders = 1000;
  const std::string first = folder_;
  std::error_code error;
  if (const fs::path in = fs::path(first).parent_path(); !in.empty()) fs::create_directories(in, error);
  for (int i = 1; !error && !fs::create_directory(folder_, error) && !error; ++i) {
    if (i == kMostFolders) error = std::make_error_code(std::errc::file_exists);
    folder_ = fmt::format("{}.{}", first, i);
  }
  if (!error) return;
  folder_ = first;
  throw std::runtime_error(fmt::format("'{}': {}", settings_.file, error.message()));
}

void Capture::end(RecordedLaunch& launch) {
  if (!waitForDevice()) return;
  for (RecordedMemory& m : launch.memory) {
    std::string bytes(kFreshWorkspace);
    if (m.address != kWorkspace && !readMemory(m.address, m.size, bytes)) return;
    m.after = writer_->keep(bytes);
  }
  writer_->write(recorded_, launch);
}

bool Capture::mayBeProfiled(const Launch& l) {
  if (settings_.profile.empty() || isCapturing(l.stream)) return false;
  const std::lock_guard guard(lock_);
  const KnownKernel* const kernel = modules.kernel(l.function);
  if (kernel == nullptr) return decline("a kernel that was not looked up by its name"), false;
  if (!settings_.wants(kernel->name)) return false;
  kernel->ptx->parse(architecture());
  if (kernel->ptx->module != nullptr) return true;
  decline(fmt::format("{} without PTX: {}", kernel->name, kernel->ptx->refusal));
  return false;
}

int Capture::profiled(const Launch& l, const std::function<int()>& launch) {
  using Clock = std::chrono::steady_clock;
  if (!mayBeProfiled(l)) return launch();
  const std::lock_guard one(timing_);
  waitForDevice();
  const auto begin = Clock::now();
  const int result = launch();
  const bool isDone = result == 0 && waitForDevice();
  const double microseconds = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  if (!isDone) return result;
  const std::lock_guard guard(lock_);
  const KnownKernel* const kernel = modules.kernel(l.function);
  if (kernel == nullptr) return result;
  const auto isMemory = [](uint64_t address) {
    return interpose::Allocations::get().with(
        [address](const auto& map) { return interpose::holderOf(map, address) != map.end(); });
  };
  if (const std::string why = profiler_.add(*kernel, l, microseconds, isMemory); !why.empty()) decline(why);
  return result;
}

int Capture::launched(const Launch& l, const std::function<int()>& launch) {
  return recorded(l, [&] { return profiled(l, launch); });
}

int Capture::recorded(const Launch& l, const std::function<int()>& launch) {
  if (!mayBeWanted(l)) return launch();
  const std::lock_guard one(recording_);
  RecordedLaunch recorded;
  bool isRecorded = false;
  const auto safely = [&](const auto& body) {
    try {
      body();
    } catch (const std::exception& e) {
      const std::lock_guard guard(lock_);
      if (declined_[e.what()]++ == 0) say(e.what());
    }
  };
  safely([&] { isRecorded = begin(l, recorded); });
  const int result = launch();
  if (isRecorded && result == 0) safely([&] { end(recorded); });
  return result;
}

void Capture::finish() {
  const std::lock_guard guard(lock_);
  if (!settings_.profile.empty()) {
    const std::string why = profiler_.isEmpty() ? "no launch was profiled" : profiler_.write(settings_.profile);
    say(why.empty() ? fmt::format("the profile is in {}", settings_.profile) : why);
  }
  if (writer_ != nullptr) {
    try {
      record::packFolder(folder_, settings_.file);
      record::removeFolder(folder_);
      say(fmt::format("{} launches recorded in {}", recorded_, settings_.file));
    } catch (const std::exception& e) {
      say(e.what());
    }
    writer_ = nullptr;
  } else if (settings_.most != 0 && (matched_ != 0 || !declined_.empty())) {
    say("no launch was recorded");
  }
  const char* const what = writer_ == nullptr && settings_.most == 0 ? "profiled" : "recorded";
  for (const auto& [why, count] : declined_) say(fmt::format("{} not {}: {}", count, what, why));
  declined_.clear();
}

}  // namespace ptxopt::capture
