#include "tool/commands/tune_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/kernel_parameters.h"
#include "exec/machine.h"
#include "record/recorder.h"
#include "tool/commands/run_memory.h"
#include "verify/values.h"

namespace ptxopt::tool {
namespace {

constexpr uint64_t kFirstAddress = exec::kSharedWindow, kPastAddresses = uint64_t{1} << 47;

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

bool holdsAddress(const std::string& bytes) {
  for (std::size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (word >= kFirstAddress && word < kPastAddresses) return true;
  }
  return false;
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
  leaveOutAddresses();
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

void MadeLaunch::leaveOutAddresses() {
  std::erase_if(launch_.memory, [&](const record::RecordedMemory& m) {
    if (!m.isVariable || !holdsAddress(bytes_.at(m.before))) return false;
    for (std::size_t at = 0; at + sizeof(uint64_t) <= launch_.parameters.size(); at += sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, launch_.parameters.data() + at, sizeof word);
      if (word - m.address < m.size)
        throw RunError(fmt::format("the variable '{}' holds addresses and cannot be an argument", m.name));
    }
    return true;
  });
}

gpu::GpuLaunch MadeLaunch::launch() const {
  return {&launch_, [this] { return [this](const std::string& digest) { return bytes_.at(digest); }; }, true,
          inputs_};
}

}  // namespace ptxopt::tool
