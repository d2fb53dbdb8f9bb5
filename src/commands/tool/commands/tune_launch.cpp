// The interpreter's Machine places the memory, from which a recorded launch is made: its arrays, its parameters, and
// where in these the addresses are. Variables with addresses in their initial values are taken out at the end.
#include "tool/commands/tune_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/kernel_parameters.h"
#include "exec/machine.h"
#include "ir/initializers.h"
#include "record/recorder.h"
#include "tool/commands/run_memory.h"
#include "verify/values.h"

namespace ptxopt::tool {
namespace {

std::vector<exec::KernelParameter> parametersOf(const Module& module, const std::string& kernel) {
  for (const Function& f : module.functions)
    if (f.isEntry && f.hasBody && module.text(f.name) == kernel) return exec::kernelParameters(module, f);
  throw RunError(fmt::format("there is no kernel '{}'", kernel));
}

// `number`, from 0, is that of the trial of `ptxopt verify` whose kind of contents they are.
std::string otherContents(const RunMemory::View& buffer, unsigned number, uint64_t seed) {
  const unsigned size = bytesOf(buffer.type);
  verify::Contents contents;
  contents.element = buffer.type;
  contents.seed = seed;
  contents.kind = verify::contentsKind(verify::holdsFloats(buffer.type), number, verify::mix(seed));
  std::string bytes(buffer.allocation->size, '\0');
  for (std::size_t i = 0; i < bytes.size() / size; ++i) {
    const uint64_t bits = verify::elementValue(contents, i);
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

}  // namespace

MadeLaunch::MadeLaunch(const Module& module, const TuneLaunch& wanted) {
  exec::Machine machine(module);
  RunMemory memory(machine, wanted.seed);
  exec::LaunchConfig config;
  config.grid = wanted.grid;
  config.block = wanted.block;
  config.cluster = wanted.cluster;
  config.dynamicShared = wanted.shared;
  config.parameters = memory.parameters(wanted.kernel, parametersOf(module, wanted.kernel), wanted.arguments);
  record::Arrays arrays;
  launch_ = record::launchOf(
      wanted.kernel, config, machine, [&](std::string_view bytes) { return keep(bytes); }, arrays);
  leaveOutAddresses(module, memory.pointers());
  for (unsigned input = 1; input < wanted.inputs; ++input) {
    std::vector<std::string> digests(launch_.memory.size());
    bool isOther = false;
    uint64_t seed = verify::mix(wanted.seed, input);
    for (const auto& [name, buffer] : memory.buffers()) {
      seed = verify::mix(seed);
      if (!buffer.isRandom || buffer.allocation->size == 0) continue;
      const auto entry =
          std::ranges::find(launch_.memory, buffer.allocation->base, &record::RecordedMemory::address);
      digests[entry - launch_.memory.begin()] = keep(otherContents(buffer, input - 1, seed));
      isOther = true;
    }
    if (isOther) inputs_.push_back(std::move(digests));
  }
}

std::string MadeLaunch::keep(std::string_view bytes) {
  std::string digest = record::digestOf(bytes);
  bytes_.try_emplace(digest, bytes);
  return digest;
}

// Addresses in memory are those of the interpreter: what begins with one is left as the module has it on the device.
void MadeLaunch::leaveOutAddresses(const Module& module, const std::vector<RunMemory::Pointer>& pointers) {
  const auto withAddresses = variablesWithAddresses(module);
  std::erase_if(launch_.memory, [&](const record::RecordedMemory& m) {
    if (!m.isVariable || !withAddresses.contains(m.name)) return false;
    if (std::ranges::find(pointers, m.address, &RunMemory::Pointer::base) != pointers.end())
      throw RunError(fmt::format("the variable '{}' holds addresses and cannot be an argument", m.name));
    return true;
  });
  for (const RunMemory::Pointer& p : pointers) {
    const auto entry = std::ranges::find(launch_.memory, p.base, &record::RecordedMemory::address);
    pointers_.push_back({p.at, static_cast<std::size_t>(entry - launch_.memory.begin())});
  }
}

gpu::GpuLaunch MadeLaunch::launch() const {
  return {&launch_, [this] { return [this](const std::string& digest) { return bytes_.at(digest); }; }, pointers_,
          inputs_};
}

}  // namespace ptxopt::tool
