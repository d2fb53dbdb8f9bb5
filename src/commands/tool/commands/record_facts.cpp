// Each number keeps its least and most value and the greatest common divisor of all values. A parameter whose values
// are all addresses of recorded memory gets an alignment of up to 256 bytes instead of a range.
#include "tool/commands/record_facts.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <numeric>

#include "exec/machine.h"
#include "support/json.h"
#include "text/parse.h"

namespace ptxopt::tool {
namespace {

using record::RecordedLaunch;
using record::RecordError;

// All values of one number.
struct Seen {
  int64_t least = INT64_MAX, most = INT64_MIN;
  uint64_t divisor = 0;   // of all of them; 0: all are 0
  bool isUsable = true;   // no address, and a number of a fact
  bool isAddress = true;  // each of them, of recorded memory

  void add(int64_t value) {
    least = std::min(least, value);
    most = std::max(most, value);
    divisor = std::gcd(divisor, value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value));
  }
  Json json() const {
    if (least == most) return {{"value", least}};
    Json range{{"least", least}, {"most", most}};
    if (divisor > 1 && divisor <= INT64_MAX) range["multiple"] = divisor;
    return range;
  }
  // For addresses: as cudaMalloc aligns them, at most.
  uint64_t alignment() const {
    constexpr uint64_t kMost = 256;
    return isAddress && divisor != 0 ? std::min(kMost, divisor & (~divisor + 1)) : 1;
  }
};

struct KernelSeen {
  std::array<Seen, 3> block, grid;
  std::vector<Seen> parameters;
  std::vector<ScalarType> types;
};

bool isAddress(const RecordedLaunch& launch, uint64_t value) {
  return std::ranges::any_of(launch.memory, [&](const record::RecordedMemory& m) {
    return value >= m.address && value - m.address <= m.size;
  });
}

void add(std::array<Seen, 3>& seen, const exec::Dim3& d) {
  seen[0].add(d.x);
  seen[1].add(d.y);
  seen[2].add(d.z);
}

void addParameters(KernelSeen& seen, const RecordedLaunch& launch, const exec::Program& program) {
  for (std::size_t i = 0; i < program.parameters().size(); ++i) {
    const exec::KernelParameter& p = program.parameters()[i];
    Seen& s = seen.parameters[i];
    if (!isInteger(p.type) || p.isArray || p.elements != 1 ||
        p.place.offset + p.place.bytes > launch.parameters.size()) {
      s.isUsable = s.isAddress = false;
      continue;
    }
    uint64_t bits = 0;
    std::memcpy(&bits, launch.parameters.data() + p.place.offset, p.place.bytes);
    const unsigned width = info(p.type).bits;
    s.isAddress &= width == 64 && isAddress(launch, bits);
    if (p.isPointer) s.isUsable = false;
    if (width == 64 && (isAddress(launch, bits) || (!isSignedType(p.type) && bits >= INT64_MAX)))
      s.isUsable = false;
    const uint64_t sign = uint64_t{1} << (width - 1);
    s.add(static_cast<int64_t>(isSignedType(p.type) ? (bits ^ sign) - sign : bits));
  }
}

Json factsOf(const std::string& kernel, const KernelSeen& seen) {
  Json facts{{"kernel", kernel}, {"block", Json::array()}, {"grid", Json::array()}};
  for (std::size_t i = 0; i < 3; ++i) {
    facts["block"].push_back(seen.block[i].json());
    facts["grid"].push_back(seen.grid[i].json());
  }
  for (std::size_t i = 0; i < seen.parameters.size(); ++i) {
    const Seen& s = seen.parameters[i];
    Json parameter{{"index", i}};
    if (s.isUsable)
      parameter.update(s.json());
    else if (s.alignment() > 1)
      parameter["align"] = s.alignment();
    else
      continue;
    facts["parameters"].push_back(parameter);
  }
  return facts;
}

}  // namespace

RecordedText recordedText(const record::Archive& archive, uint64_t module) {
  const record::RecordedModule& recorded = archive.record().modules[module];
  RecordedText read;
  read.text = std::make_unique<std::string>(archive.content(recorded.text));
  auto parsed = text::parse(*read.text, recorded.name);
  if (const auto* wrong = std::get_if<text::ParseError>(&parsed))
    throw RecordError(text::render(*wrong, recorded.name));
  read.module = std::move(std::get<0>(parsed));
  return read;
}

std::string factsOfLaunches(const record::Archive& archive, const std::vector<bool>& wanted) {
  struct Loaded {
    RecordedText text;
    std::unique_ptr<exec::Machine> machine;
  };
  std::map<uint64_t, Loaded> modules;
  std::map<std::string, KernelSeen> kernels;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    const RecordedLaunch& launch = archive.record().launches[i];
    const auto [module, isNew] = modules.try_emplace(launch.module);
    if (isNew) {
      module->second.text = recordedText(archive, launch.module);
      module->second.machine = std::make_unique<exec::Machine>(*module->second.text.module);
    }
    try {
      const exec::Program& program = module->second.machine->kernel(launch.kernel);
      std::vector<ScalarType> types;
      for (const exec::KernelParameter& p : program.parameters()) types.push_back(p.type);
      KernelSeen& seen = kernels[launch.kernel];
      if (seen.parameters.empty()) {
        seen.parameters.resize(types.size());
        seen.types = types;
      }
      if (seen.types != types)
        throw RecordError(
            fmt::format("kernels of several modules are called '{}', and have other parameters", launch.kernel));
      add(seen.block, launch.block);
      add(seen.grid, launch.grid);
      addParameters(seen, launch, program);
    } catch (const exec::ExecError& e) {
      throw RecordError(fmt::format("launch {}: {}", i + 1, e.message));
    }
  }
  if (kernels.empty()) throw RecordError("none of the launches is chosen");
  Json file{{"version", 1}, {"kernels", Json::array()}};
  for (const auto& [name, seen] : kernels) file["kernels"].push_back(factsOf(name, seen));
  return dumpJson(file, 1) + '\n';
}

}  // namespace ptxopt::tool
