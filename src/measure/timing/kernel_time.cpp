// Units, bytes and latencies are summed for each region and scenario, the largest limits it, and the function is the
// sum over regions by their counts. The digest covers all figures of the machine and a revision of the model.
#include "timing/kernel_time.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

namespace ptxopt::timing {
namespace {

// To be raised whenever the same figures come to other estimates.
constexpr unsigned kRevision = 14;
constexpr double kWarpThreads = 32;

std::size_t index(Unit unit) { return static_cast<std::size_t>(unit); }

// For a warp, with each thread taken to access bytes of its own; as portionsOf has it.
double bytesOf(const Operation& o) { return o.bytes * kWarpThreads; }

void addUnits(const TimedCode& code, const Machine& machine, RegionTime& time) {
  for (const Visit& v : time.region.visits) {
    const sass::Block& block = code.flow.blocks()[v.block];
    for (uint32_t i = block.first; i < block.end; ++i) {
      const Operation& o = code.operations[i];
      for (const Use& u : machine.uses(o.kind))
        time.units[index(u.unit)] +=
            v.frequency * u.cycles * (u.unit == Unit::Issue ? 1 : o.repeats * portionsOf(o));
      time.work.add(o, v.frequency);
      if (o.space == Space::Global) time.bytes += v.frequency * bytesOf(o);
    }
  }
}

uint32_t warpsOfBlock(uint32_t threads) {
  return static_cast<uint32_t>((threads + static_cast<uint32_t>(kWarpThreads) - 1) /
                               static_cast<uint32_t>(kWarpThreads));
}

// The most of them.
void limit(ScenarioTime& time, const std::array<double, kUnits>& units, double warpsOfPart) {
  time.cycles = 0;
  for (std::size_t u = 0; u < kUnits; ++u)
    if (units[u] > time.cycles) {
      time.cycles = units[u];
      time.bottleneck = {Limit::Unit, static_cast<Unit>(u)};
    }
  if (time.bandwidth > time.cycles) {
    time.cycles = time.bandwidth;
    time.bottleneck = {Limit::Bandwidth};
  }
  if (time.latency / warpsOfPart > time.cycles) {
    time.cycles = time.latency / warpsOfPart;
    time.bottleneck = {Limit::Latency};
  }
}

void addTo(RegionTime& whole, const RegionTime& part) {
  const double iterations = part.region.iterations;
  whole.work.add(part.work, iterations);
  whole.bytes += iterations * part.bytes;
  for (std::size_t u = 0; u < kUnits; ++u) whole.units[u] += iterations * part.units[u];
  for (std::size_t s = 0; s < kScenarios; ++s) {
    whole.scenarios[s].latency += iterations * part.scenarios[s].latency;
    whole.scenarios[s].bandwidth += iterations * part.scenarios[s].bandwidth;
  }
}

}  // namespace

std::string nameOf(const Bottleneck& b, Scenario scenario) {
  switch (b.limit) {
    case Limit::Unit: return std::string(nameOf(b.unit));
    case Limit::Bandwidth: return fmt::format("{} bandwidth", nameOf(scenario));
    case Limit::Latency: break;
  }
  return "latency";
}

std::string digestOf(const Machine& machine) {
  // Made of bytes, not of text, since it is asked for with each kernel.
  std::string all;
  const auto add = [&](auto figure) { all.append(reinterpret_cast<const char*>(&figure), sizeof figure); };
  add(kRevision);
  for (std::size_t k = 0; k < kKinds; ++k) {
    const Kind kind = static_cast<Kind>(k);
    add(machine.uses(kind).size());
    for (const Use& u : machine.uses(kind)) {
      add(u.unit);
      add(u.cycles);
    }
    add(machine.latency(kind));
  }
  for (std::size_t s = 0; s < kScenarios; ++s) {
    const Memory& m = machine.memory(static_cast<Scenario>(s));
    add(m.latency);
    add(m.bytesPerCycle);
  }
  return fmt::format("{:08x}", static_cast<uint32_t>(XXH3_64bits(all.data(), all.size())));
}

FunctionTime estimate(const TimedCode& code, const Machine& machine, const TimeOptions& options) {
  FunctionTime result;
  result.warps = std::max<uint32_t>(options.warps, kParts);
  result.warpsAlone = options.isLaunchKnown ? result.warps : std::max(warpsOfBlock(options.threads), kParts);
  const auto limitAll = [&](RegionTime& time) {
    time.alone = time.scenarios;
    for (ScenarioTime& s : time.scenarios) limit(s, time.units, result.warps / static_cast<double>(kParts));
    for (ScenarioTime& s : time.alone) limit(s, time.units, result.warpsAlone / static_cast<double>(kParts));
  };
  for (Region& region :
       regionsOf(code, options.iterationsOf ? options.iterationsOf : sameIterations(kAssumedIterations),
                 options.countOf)) {
    RegionTime time;
    time.region = std::move(region);
    addUnits(code, machine, time);
    for (std::size_t s = 0; s < kScenarios; ++s) {
      const auto scenario = static_cast<Scenario>(s);
      time.scenarios[s].bandwidth = kParts * time.bytes / machine.memory(scenario).bytesPerCycle;
      time.scenarios[s].latency = traceOf(code, time.region, machine, scenario).cycles;
    }
    limitAll(time);
    addTo(result.whole, time);
    result.regions.push_back(std::move(time));
  }
  limitAll(result.whole);
  return result;
}

}  // namespace ptxopt::timing
