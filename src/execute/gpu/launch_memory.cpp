// Each entry of the record is classified as placed memory, a variable of the module, or absent, and what cannot be
// placed is refused. Each image has a list of addresses and parameters of its own; contents are restored before each
// run, for timing from copies on the device.
#include "gpu/launch_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/kernel_parameters.h"

namespace ptxopt::gpu {
namespace {

using record::RecordedLaunch;
using record::RecordedMemory;

constexpr int kDynamicShared = 8, kLargeClusters = 14;  // CUfunction_attribute
constexpr uint64_t kPortableCluster = 8;
constexpr uint64_t kBusyBytes = 16u << 20;  // to fill takes longer than to issue a launch, some 5 microseconds
constexpr const char* kHeap = "the device heap";  // as exec::DeviceMemory calls it

std::vector<Place> placesOf(const RecordedLaunch& l, const auto& isPlaced) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < l.memory.size(); ++i)
    if (isPlaced(i) && l.memory[i].size != 0)
      places.push_back({l.memory[i].name, l.memory[i].address, l.memory[i].size});
  return places;
}

template <typename F>
void forEachWord(const std::string& bytes, F&& f) {
  for (std::size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (!f(at, word)) return;
  }
}

}  // namespace

// With an archive of its own: two processes would share the place in one file.
GpuLaunch gpuLaunchOf(const record::Archive& archive, const RecordedLaunch& launch) {
  const auto open = [path = archive.path(), most = archive.mostBytes(), &launch]() -> BytesOf {
    const auto own = std::make_shared<const record::Archive>(path, most);
    own->needAffordable(launch);
    return [own](const std::string& digest) { return own->content(digest); };
  };
  return {&launch, open};
}

std::vector<LaunchMemory::Part> LaunchMemory::classify() const {
  const bool looksUp = std::any_of(module_.opcodes.begin(), module_.opcodes.end(), [](const OpcodeForm& f) {
    return f.op == Op::Tex || f.op == Op::Tld4 || f.op == Op::Txq || f.op == Op::Suld || f.op == Op::Sust ||
           f.op == Op::Sured || f.op == Op::Suq;
  });
  if (looksUp && (launch_.hasTextures || !launch_.textures.empty()))
    throw Refusal("the module uses textures or surfaces, whose handles are others on this device");
  if (!launch_.heapUsed.empty()) throw Refusal("kernels before it left memory of malloc");
  std::vector<Part> parts;
  for (const RecordedMemory& m : launch_.memory) {
    if (m.aliasOf != 0)
      throw Refusal(
          fmt::format("'{}' at {:#x} is also at {:#x}: a managed variable", m.name, m.address, m.aliasOf));
    const bool isAbsent = (m.name == kHeap && m.size == launch_.heapSize) || m.address == workspace_;
    parts.push_back(isAbsent ? Part::Absent : m.isVariable ? Part::Variable : Part::Placed);
  }
  return parts;
}

LaunchMemory::LaunchMemory(const Driver& driver, const GpuLaunch& launch, const Module& module)
    : driver_(driver),
      given_(launch),
      launch_(*launch.launch),
      module_(module),
      workspace_(record::workspaceOf(launch_)),
      parts_(classify()),
      fixed_(driver, placesOf(launch_, [&](std::size_t i) { return parts_[i] == Part::Placed; }),
             launch.pointers.has_value()),
      bytesOf_(launch.open()) {
  setInput(0);
  const bool hasResult =
      std::none_of(launch_.memory.begin(), launch_.memory.end(), [](const auto& m) { return m.after.empty(); });
  for (std::size_t i = 0; hasResult && i < launch_.memory.size(); ++i)
    after_.push_back(parts_[i] != Part::Absent ? bytesOf_(launch_.memory[i].after) : std::string());
  if (!launch.pointers) refuseAddressesOfVariables();
}

void LaunchMemory::setInput(std::size_t number) {
  before_.clear();
  for (std::size_t i = 0; i < launch_.memory.size(); ++i) {
    const RecordedMemory& m = launch_.memory[i];
    const bool isOther = number != 0 && !given_.inputs[number - 1][i].empty();
    before_.push_back(parts_[i] == Part::Absent ? std::string()
                                                : bytesOf_(isOther ? given_.inputs[number - 1][i] : m.before));
    if (parts_[i] != Part::Absent && before_.back().size() != m.size)
      throw record::RecordError(fmt::format("'{}' has another size than its bytes", m.name));
  }
}

uint64_t LaunchMemory::entryAround(uint64_t address) const {
  const auto& memory = launch_.memory;  // by address
  auto after = std::upper_bound(memory.begin(), memory.end(), address,
                                [](uint64_t a, const RecordedMemory& m) { return a < m.address; });
  if (after == memory.begin()) return 0;
  const auto i = static_cast<std::size_t>(after - memory.begin()) - 1;
  return parts_[i] != Part::Absent && address - memory[i].address < memory[i].size ? i + 1 : 0;
}

void LaunchMemory::refuseAddressesOfVariables() const {
  for (std::size_t i = 0; i < launch_.memory.size(); ++i)
    for (const auto* side : {&before_, &after_}) {
      if (i >= side->size()) continue;
      forEachWord((*side)[i], [&](std::size_t at, uint64_t word) {
        if (const uint64_t v = entryAround(word); v != 0 && parts_[v - 1] == Part::Variable)
          throw Refusal(
              fmt::format("byte {} of '{}' at {:#x} holds the address of the variable '{}', which lies "
                          "elsewhere on this device",
                          at, launch_.memory[i].name, launch_.memory[i].address, launch_.memory[v - 1].name));
        return true;
      });
    }
}

std::vector<GpuLaunch::Pointer> LaunchMemory::pointers() const {
  if (given_.pointers) return *given_.pointers;
  std::vector<GpuLaunch::Pointer> found;
  for (std::size_t at = 0; at + sizeof(uint64_t) <= launch_.parameters.size(); at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, launch_.parameters.data() + at, sizeof word);
    if (const uint64_t v = entryAround(word); v != 0) found.push_back({at, v - 1});
  }
  return found;
}

LoadedImage LaunchMemory::load(const std::string& image) const {
  const Calls& calls = driver_.calls();
  LoadedImage loaded;
  void* module = nullptr;
  driver_.check("cuModuleLoadData", calls.load(&module, image.c_str()));
  driver_.check("cuModuleGetFunction", calls.function(&loaded.function, module, launch_.kernel.c_str()));
  for (std::size_t i = 0; i < launch_.memory.size(); ++i) {
    const RecordedMemory& m = launch_.memory[i];
    uint64_t address = parts_[i] == Part::Placed ? m.address + fixed_.distance() : 0;
    if (parts_[i] == Part::Variable) {
      size_t size = 0;
      const bool isFound = calls.variable(&address, &size, module, m.name.c_str()) == 0;
      if (!isFound) address = 0;
      // ptxas leaves out variables that nothing uses.
      if (!isFound && !m.after.empty() && m.before != m.after)
        throw Refusal(fmt::format("the variable '{}', which the launch changed, is not found", m.name));
      if (isFound && size != m.size)
        throw Refusal(fmt::format("the variable '{}' has {} bytes, not {}", m.name, size, m.size));
    }
    loaded.addresses.push_back(address);
  }
  loaded.parameters = launch_.parameters;
  for (const GpuLaunch::Pointer& p : pointers()) {
    uint64_t word;
    std::memcpy(&word, loaded.parameters.data() + p.at, sizeof word);
    word = loaded.addresses[p.entry] + (word - launch_.memory[p.entry].address);
    std::memcpy(loaded.parameters.data() + p.at, &word, sizeof word);
  }
  const Function* kernel = nullptr;
  for (const Function& f : module_.functions)
    if (f.isEntry && f.hasBody && module_.text(f.name) == launch_.kernel) kernel = &f;
  if (kernel == nullptr) throw Refusal(fmt::format("there is no kernel '{}'", launch_.kernel));
  for (const exec::KernelParameter& p : exec::kernelParameters(module_, *kernel)) {
    if (p.place.offset + uint64_t{p.place.bytes} > loaded.parameters.size())
      throw Refusal(fmt::format("the kernel has more parameters than were recorded: '{}'", p.name));
    loaded.places.push_back(loaded.parameters.data() + p.place.offset);
  }
  if (launch_.shared != 0)
    driver_.check("cuFuncSetAttribute",
                  calls.setFunctionAttribute(loaded.function, kDynamicShared, static_cast<int>(launch_.shared)));
  if (launch_.cluster.count() > kPortableCluster)
    driver_.check("cuFuncSetAttribute", calls.setFunctionAttribute(loaded.function, kLargeClusters, 1));
  return loaded;
}

void LaunchMemory::launch(const LoadedImage& image) const {
  const Calls& calls = driver_.calls();
  const exec::Dim3 &g = launch_.grid, &b = launch_.block, &c = launch_.cluster;
  auto** const places = const_cast<void**>(image.places.data());
  if (c.count() == 1) {
    if (workspace_ == 0)
      driver_.check("cuLaunchKernel", calls.launch(image.function, g.x, g.y, g.z, b.x, b.y, b.z, launch_.shared,
                                                   nullptr, places, nullptr));
    else
      driver_.check("cuLaunchCooperativeKernel", calls.launchCooperative(image.function, g.x, g.y, g.z, b.x, b.y,
                                                                         b.z, launch_.shared, nullptr, places));
    return;
  }
  driver_.need(calls.launchWith != nullptr, "clusters");
  LaunchAttribute attributes[2];
  attributes[0].id = LaunchAttribute::Cluster;
  attributes[0].values[0] = c.x, attributes[0].values[1] = c.y, attributes[0].values[2] = c.z;
  attributes[1].id = LaunchAttribute::Cooperative;
  attributes[1].values[0] = 1;
  const LaunchShape shape{{g.x, g.y, g.z}, {b.x, b.y, b.z}, launch_.shared,
                          nullptr,         attributes,      workspace_ != 0 ? 2u : 1u};
  driver_.check("cuLaunchKernelEx", calls.launchWith(&shape, image.function, places, nullptr));
}

void LaunchMemory::restore(const LoadedImage& image) const {
  for (std::size_t i = 0; i < before_.size(); ++i)
    if (image.addresses[i] != 0 && !before_[i].empty())
      driver_.check("cuMemcpyHtoD",
                    driver_.calls().toDevice(image.addresses[i], before_[i].data(), before_[i].size()));
}

std::vector<std::string> LaunchMemory::read(const LoadedImage& image) const {
  driver_.check("cuCtxSynchronize", driver_.calls().synchronize());
  std::vector<std::string> result(before_.size());
  for (std::size_t i = 0; i < before_.size(); ++i) {
    if (before_[i].empty()) continue;
    if (image.addresses[i] == 0) {
      result[i] = before_[i];  // a variable that nothing uses
      continue;
    }
    result[i].resize(before_[i].size());
    driver_.check("cuMemcpyDtoH", driver_.calls().toHost(result[i].data(), image.addresses[i], result[i].size()));
  }
  return result;
}

void LaunchMemory::restoreOnly(const std::vector<std::vector<std::string>>& results) {
  driver_.check("cuMemAlloc", driver_.calls().allocate(&busy_, kBusyBytes));
  for (std::size_t i = 0; i < before_.size(); ++i) {
    if (std::all_of(results.begin(), results.end(), [&](const auto& r) { return r[i] == before_[i]; })) continue;
    uint64_t copy = 0;
    driver_.check("cuMemAlloc", driver_.calls().allocate(&copy, before_[i].size()));
    driver_.check("cuMemcpyHtoD", driver_.calls().toDevice(copy, before_[i].data(), before_[i].size()));
    copies_.emplace_back(i, copy);
  }
}

void LaunchMemory::restoreQuickly(const LoadedImage& image) const {
  for (const auto& [i, copy] : copies_)
    driver_.check("cuMemcpyDtoD", driver_.calls().copy(image.addresses[i], copy, before_[i].size()));
  driver_.check("cuMemsetD8", driver_.calls().fill(busy_, 0, kBusyBytes));
}

}  // namespace ptxopt::gpu
