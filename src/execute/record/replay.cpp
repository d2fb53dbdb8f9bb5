// Memory is allocated at the recorded addresses and filled, textures are bound, and the kernel is launched in a machine
// of its own. Differences are counted, and the first is described; the barrier of a cooperative grid is left out.
#include "record/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/heap.h"
#include "exec/machine.h"
#include "record/textures.h"

namespace ptxopt::record {

namespace {

// Has the recorded size: what is compared with it is read that far.
std::string contentOf(const Archive& archive, const RecordedMemory& m, const std::string& digest) {
  const uint64_t size = archive.sizeOf(digest);
  if (size != 0 && size != m.size) throw RecordError(fmt::format("'{}' has another size than its bytes", m.name));
  std::string bytes = archive.content(digest);
  if (bytes.size() != m.size) throw RecordError(fmt::format("'{}' has another size than its bytes", m.name));
  return bytes;
}

}  // namespace

Replayed replay(const Archive& archive, const RecordedLaunch& launch, const Module& ptx,
                const ReplayOptions& options) {
  if (launch.hasTextures) throw RecordError("the launch had textures or surfaces, which were not recorded");
  archive.needAffordable(launch);
  const auto device = std::make_shared<exec::DeviceMemory>(launch.heapSize);
  exec::GlobalMemory& memory = device->global;
  Replayed result;
  result.memory.reserve(launch.memory.size());
  std::vector<exec::Allocation*> places;
  for (const RecordedMemory& m : launch.memory) {
    std::string& bytes = result.memory.emplace_back(contentOf(archive, m, m.before));
    if (m.address == device->heapMemory.base && m.size == launch.heapSize) {
      std::memcpy(device->heapMemory.data, bytes.data(), bytes.size());
      places.push_back(&device->heapMemory);
      continue;
    }
    exec::Allocation* const same = m.aliasOf != 0 ? memory.find(m.aliasOf) : nullptr;
    if (m.aliasOf != 0 && (same == nullptr || same->size != m.size))
      throw RecordError(fmt::format("'{}' is said to be what lies at {:#x}", m.name, m.aliasOf));
    std::byte* const data = same != nullptr ? same->data : reinterpret_cast<std::byte*>(bytes.data());
    try {
      places.push_back(&memory.attach(m.name, m.address, {data, bytes.size()}));
    } catch (const std::invalid_argument&) {
      throw RecordError(fmt::format("'{}' at {:#x} lies where other memory is", m.name, m.address));
    }
    places.back()->readOnly = m.isReadOnly;
  }
  exec::Heap::State heap;
  uint64_t at = 0;
  for (const auto& [offset, size] : launch.heapUsed) {
    heap.used[offset] = size;
    if (offset > at) heap.free[at] = offset - at;
    at = offset + size;
  }
  if (at < launch.heapSize) heap.free[at] = launch.heapSize - at;
  device->heap->restore(std::move(heap));

  exec::Machine machine(ptx, device, [&](std::string_view name, uint64_t bytes) -> exec::Allocation* {
    for (std::size_t i = 0; i < places.size(); ++i)
      if (launch.memory[i].isVariable && launch.memory[i].name == name && launch.memory[i].size == bytes)
        return places[i];
    return nullptr;
  });
  bindTextures(launch, places, machine);
  machine.print = [&](std::string_view text) { result.printed += text; };
  exec::LaunchConfig config;
  config.grid = launch.grid;
  config.block = launch.block;
  config.cluster = launch.cluster;
  config.dynamicShared = launch.shared;
  config.parameters = launch.parameters;
  for (const auto& [number, value] : launch.environment)
    if (number < config.environment.size()) config.environment[number] = value;
  config.jobs = options.jobs;
  config.limitSteps(options.stepLimit);
  machine.countsLoops = options.launch != nullptr;
  if (options.launch)
    options.launch(machine, launch.kernel, config);
  else
    machine.launch(launch.kernel, config);
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i] == &device->heapMemory || launch.memory[i].aliasOf != 0)
      std::memcpy(result.memory[i].data(), places[i]->data, places[i]->size);
  return result;
}

std::optional<std::string> firstDifference(const RecordedLaunch& launch, const std::vector<std::string>& expected,
                                           const std::vector<std::string>& got) {
  std::string first;
  uint64_t count = 0;
  for (std::size_t i = 0; i < launch.memory.size(); ++i) {
    const RecordedMemory& m = launch.memory[i];
    // What a barrier counts in is the driver's business.
    if (expected[i] == got[i] || m.address == workspaceOf(launch)) continue;
    for (std::size_t j = 0; j < m.size; ++j) {
      if (expected[i][j] == got[i][j]) continue;
      if (++count == 1)
        first = fmt::format("byte {} of '{}' of {} bytes at {:#x}: {:#04x} instead of {:#04x}", j, m.name, m.size,
                            m.address, static_cast<unsigned char>(got[i][j]),
                            static_cast<unsigned char>(expected[i][j]));
    }
  }
  if (count == 0) return std::nullopt;
  return fmt::format("{}; {} bytes differ", first, count);
}

std::optional<std::vector<std::string>> recordedResult(const Archive& archive, const RecordedLaunch& launch) {
  archive.needAffordable(launch);
  std::vector<std::string> result;
  for (const RecordedMemory& m : launch.memory) {
    if (m.after.empty()) return std::nullopt;
    result.push_back(contentOf(archive, m, m.after));
  }
  return result;
}

}  // namespace ptxopt::record
