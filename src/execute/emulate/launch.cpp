// A launch is checked against the limits of the device and of the kernel, then run plainly, counted, profiled or
// compared. A comparison runs both versions from the same image of memory, one after the other, and keeps the result of
// the first.
#include "emulate/launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "emulate/image.h"
#include "emulate/limits.h"
#include "exec/heap.h"
#include "exec/observer.h"
#include "exec/texture.h"
#include "support/atomic_file.h"
#include "support/demangle.h"
#include "support/log.h"

namespace ptxopt::emulate {
namespace {

constexpr uint64_t kPortableCluster = 8;

// The workspace that the driver gives cooperative grids: its size, and the word that their barrier counts in.
struct Workspace {
  uint32_t bytes = sizeof(Workspace), barrier = 0;
};

class Steps final : public exec::Observer {
 public:
  void op(exec::Warp&, const exec::Routine&, const exec::Op&, exec::Mask, exec::Mask active) override {
    count += active != 0;
  }
  uint64_t count = 0;
};

std::string shapeOf(const LaunchShape& s) {
  return fmt::format("<<<{}, {}{}>>>", exec::toString(s.grid), exec::toString(s.block),
                     s.shared != 0 ? fmt::format(", {}", s.shared) : "");
}

}  // namespace

std::vector<std::byte> packArguments(const Kernel& kernel, void* const* places) {
  const exec::Program& program = kernel.program();
  std::vector<std::byte> bytes(program.parameterBytes());
  need(places != nullptr || program.parameters().empty(), Code::InvalidValue,
       "the kernel has parameters, none are given");
  for (std::size_t i = 0; i < program.parameters().size(); ++i) {
    const exec::Placement& place = program.parameters()[i].place;
    if (place.bytes == 0) continue;
    need(places[i] != nullptr, Code::InvalidValue, "an argument is missing");
    std::memcpy(bytes.data() + place.offset, places[i], place.bytes);
  }
  return bytes;
}

void Launcher::report(const Kernel& kernel, const LaunchShape& shape, const std::string& what) const {
  std::fflush(stdout);
  log::asked(log::kEmulate,
             fmt::format("launch {}, {}{}: {}", totals_.launches, readableName(kernel.name), shapeOf(shape), what));
}

void Launcher::run(LoadedVersion& version, const Kernel& kernel, exec::LaunchConfig& config, std::string* output) {
  exec::Machine& machine = *version.machine;
  machine.textures = textures_;
  machine.print = [&](std::string_view text) {
    if (output != nullptr)
      *output += text;
    else
      std::fwrite(text.data(), 1, text.size(), stdout);
  };
  Steps steps;
  if (settings_.countsTime) {
    config.jobs = 1;
    config.observer = &steps;
  }
  try {
    machine.launch(kernel.name, config);
    steps_ += steps.count;
  } catch (const exec::ExecError& e) {
    std::fflush(stdout);
    log::writeLines(log::Level::Error, log::kEmulate, describe(e, version));
    throw Failure{codeOf(e.kind), fmt::format("{}: {}", readableName(kernel.name), e.message)};
  }
}

void Launcher::count(const Kernel& kernel, const exec::LaunchConfig& config, ThreadInstructions& instructions) {
  exec::LaunchConfig counted = config;
  counted.jobs = 1;
  counted.observer = &instructions;
  exec::Heap& heap = *memory_.shared()->heap;
  const Image before(memory_.global(), textures_);
  exec::Heap::State heapBefore = heap.state();
  std::string printed;
  try {
    run(kernel.module->running(), kernel, counted, &printed);
  } catch (...) {
    std::fwrite(printed.data(), 1, printed.size(), stdout);
    throw;
  }
  before.restore();
  heap.restore(std::move(heapBefore));
}

void Launcher::profile(const Kernel& kernel, exec::LaunchConfig& config) {
  ThreadInstructions instructions;
  count(kernel, config, instructions);
  const double begin = processorSeconds();
  run(kernel.module->running(), kernel, config, nullptr);
  profile_.add(readableName(kernel.name), instructions, processorSeconds() - begin);
  static const bool isSaid = [this] {
    static Launcher* const self = this;  // there until the very end
    return std::atexit([] { log::writeLines(log::Level::Asked, log::kEmulate, self->profile_.table()); }) == 0;
  }();
  need(isSaid, Code::Unknown, "the profile cannot be said at the end");
}

// Written when the program ends, and as often before that it costs nothing: it may be killed.
void Launcher::profileFacts(const Kernel& kernel, exec::LaunchConfig& config) {
  LoadedVersion& version = kernel.module->running();
  profiler_.launch(*version.machine, kernel.name, config,
                   [&](exec::LaunchConfig& profiled) { run(version, kernel, profiled, nullptr); });
  if (std::has_single_bit(profiler_.launches())) writeProfileFacts();
  static const bool isWritten = [this] {
    static const Launcher* const self = this;  // there until the very end
    return std::atexit([] { self->writeProfileFacts(); }) == 0;
  }();
  need(isWritten, Code::Unknown, "the profile cannot be written at the end");
}

void Launcher::writeProfileFacts() const {
  const std::string path = fmt::format("{}/{}.json", settings_.profileFolder, getpid());
  if (!writeWhole(path, profile::write(profiler_.file())))
    log::writeLines(log::Level::Error, log::kEmulate, fmt::format("ptxopt emulate: cannot write '{}'\n", path));
}

void Launcher::runBoth(const Kernel& kernel, exec::LaunchConfig& config, const LaunchShape& shape) {
  exec::Heap& heap = *memory_.shared()->heap;
  const Image before(memory_.global(), textures_);
  const exec::Heap::State heapBefore = heap.state();
  std::string printed, printedOptimized;
  const auto print = [&] { std::fwrite(printed.data(), 1, printed.size(), stdout); };
  try {
    run(kernel.module->plain, kernel, config, &printed);
  } catch (...) {
    print();
    throw;
  }
  print();
  const Image after(memory_.global(), textures_);
  exec::Heap::State heapAfter = heap.state();
  before.restore();
  heap.restore(heapBefore);
  ++totals_.compared;
  std::string difference;
  try {
    run(*kernel.module->optimized, kernel, config, &printedOptimized);
    if (const auto d = after.difference())
      difference = fmt::format(
          "the optimized PTX writes other values: {:#04x} instead of {:#04x} at byte {} of '{}' of {} "
          "bytes; {} bytes differ",
          std::to_integer<unsigned>(d->is), std::to_integer<unsigned>(d->was), d->first, d->name, d->size,
          d->bytes);
    else if (printed != printedOptimized)
      difference = "the optimized PTX prints something else";
  } catch (const Failure& f) {
    difference = "the optimized PTX fails: " + f.why;
  }
  if (!difference.empty()) {
    ++totals_.different;
    report(kernel, shape, difference);
  }
  after.restore();
  heap.restore(std::move(heapAfter));
}

void Launcher::launch(Kernel& kernel, const LaunchShape& asked, const std::vector<std::byte>& arguments,
                      bool& hasHarmed) {
  hasHarmed = false;
  LaunchShape shape = asked;
  const Limits limits = limitsOf(kernel.program().module(), kernel.program().kernel());
  if (shape.cluster.count() == 1 && limits.cluster.count() != 0) shape.cluster = limits.cluster;
  if (shape.cluster.count() == 1 && kernel.cluster.count() != 0) shape.cluster = kernel.cluster;
  const exec::Dim3 &g = shape.grid, &b = shape.block, &c = shape.cluster;
  need(g.count() != 0 && b.count() != 0, Code::InvalidConfiguration, "a grid or block of size 0");
  need(g.x <= INT32_MAX && g.y <= 65535 && g.z <= 65535, Code::InvalidConfiguration, "too large a grid");
  need(b.x <= 1024 && b.y <= 1024 && b.z <= 64 && b.count() <= 1024, Code::InvalidConfiguration,
       "too large a block");
  need(b.count() <= limits.mostThreads, Code::LaunchOutOfResources,
       "more threads than the kernel allows: .maxntid");
  need(limits.exactly.count() == 0 || limits.exactly == b, Code::InvalidConfiguration,
       "another block than the kernel asks for: .reqntid");
  need(c.x != 0 && c.y != 0 && c.z != 0 && c.x <= 16 && c.y <= 16 && c.z <= 16, Code::InvalidClusterSize,
       "no such cluster");
  need(c.count() == 1 || (g.x % c.x == 0 && g.y % c.y == 0 && g.z % c.z == 0), Code::InvalidClusterSize,
       "the grid is not a multiple of the cluster");
  need(c.count() <= (kernel.allowsLargeClusters ? 16 : kPortableCluster), Code::InvalidClusterSize,
       "too large a cluster");
  need(kernel.mostDynamicShared > Kernel::kUsualShared
           ? shape.shared <= kernel.mostDynamicShared
           : shape.shared + kernel.program().staticShared() <= Kernel::kUsualShared,
       Code::InvalidValue, "more shared memory than the kernel was allowed");

  exec::LaunchConfig config;
  config.grid = g;
  config.block = b;
  config.cluster = c;
  config.dynamicShared = shape.shared;
  config.parameters = arguments;
  config.limitSteps(settings_.stepLimit);
  config.checkRaces = config.checkGlobalRaces = settings_.checksRaces;
  config.isLenient = settings_.isLenient;
  // A comparison needs blocks in the same order on both sides: sums of atomics depend on it.
  config.jobs = settings_.compare && kernel.module->optimized != nullptr ? 1 : settings_.jobs;
  if (shape.isCooperative) {
    if (workspace_ == 0) workspace_ = memory_.allocate(sizeof(Workspace), MemoryKind::Device).address;
    const Workspace fresh;
    std::memcpy(memory_.bytes(workspace_, sizeof fresh), &fresh, sizeof fresh);
    config.environment[1] = static_cast<uint32_t>(workspace_ >> 32);
    config.environment[2] = static_cast<uint32_t>(workspace_);
  }

  ++totals_.launches;
  const auto begin = std::chrono::steady_clock::now();
  const auto noteTime = [&] {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    totals_.seconds += seconds;
    const LoadedVersion& version = settings_.compare ? kernel.module->plain : kernel.module->running();
    totals_.strayReads += version.machine->lastStrayReads();
    if (settings_.verbose) report(kernel, shape, fmt::format("{:.3f} s", seconds));
  };
  try {
    exec::Machine& machine = *kernel.module->plain.machine;
    machine.textures = textures_;
    const bool isRecorded = recorder_.begin(machine.module(), kernel.name, config, machine);
    if (settings_.compare && kernel.module->optimized != nullptr)
      runBoth(kernel, config, shape);
    else if (settings_.profiles)
      profile(kernel, config);
    else if (!settings_.profileFolder.empty())
      profileFacts(kernel, config);
    else
      run(kernel.module->running(), kernel, config, nullptr);
    if (isRecorded) recorder_.end(machine);
  } catch (const Failure&) {
    ++totals_.failed;
    hasHarmed = true;
    noteTime();
    throw;
  }
  noteTime();
}

}  // namespace ptxopt::emulate
