// The tables of a machine are filled once from the rows whose range has its figures' number; scalings then multiply
// single figures, for experiments with the model.
#include "target/machine.h"

#include <array>
#include <vector>

#include "target/target.h"

namespace ptxopt::target {
namespace {

constexpr std::string_view kUnitNames[] = {
#define TARGET_UNIT(name, text, shared) text,
#include "target/units.def"
};
constexpr bool kUnitIsShared[] = {
#define TARGET_UNIT(name, text, shared) shared,
#include "target/units.def"
};
constexpr std::string_view kKindNames[] = {
#define TARGET_KIND(name, text) text,
#include "target/kinds.def"
};
constexpr std::string_view kSourceIds[] = {
#define TARGET_SOURCE(id, text) #id,
#include "target/sources.def"
};
constexpr std::string_view kSourceTexts[] = {
#define TARGET_SOURCE(id, text) text,
#include "target/sources.def"
};
constexpr std::string_view kScenarioNames[] = {"L1", "L2", "DRAM"};

struct UseRow {
  Kind kind;
  uint32_t first, last;
  Use use;
};
constexpr UseRow kUses[] = {
#define TARGET_USE(kind, first, last, unit, cycles, source) \
  {Kind::kind, first, last, {Unit::unit, cycles, Source::source}},
#include "target/uses.def"
};

struct LatencyRow {
  Kind kind;
  uint32_t first, last;
  double cycles;
  Source source;
};
constexpr LatencyRow kLatencies[] = {
#define TARGET_LATENCY(kind, first, last, cycles, source) {Kind::kind, first, last, cycles, Source::source},
#include "target/latencies.def"
};

struct MemoryRow {
  uint32_t architecture;
  Scenario scenario;
  Memory memory;
};
constexpr MemoryRow kMemories[] = {
#define TARGET_MEMORY(architecture, scenario, latency, latencySource, bytes, bytesSource) \
  {architecture, Scenario::scenario, {latency, bytes, Source::latencySource, Source::bytesSource}},
#include "target/memory.def"
};

}  // namespace

struct Machine::Tables {
  struct Latency {
    double cycles = 0;
    Source source = Source::Assumed;
  };
  uint32_t architecture = 0;
  std::array<std::vector<Use>, kKinds> uses;
  std::array<Latency, kKinds> latencies{};
  std::array<Memory, kScenarios> memories{};
};

std::string_view nameOf(Unit unit) { return kUnitNames[static_cast<std::size_t>(unit)]; }
bool isShared(Unit unit) { return kUnitIsShared[static_cast<std::size_t>(unit)]; }
std::string_view nameOf(Kind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }
std::string_view nameOf(Scenario scenario) { return kScenarioNames[static_cast<std::size_t>(scenario)]; }
std::string_view idOf(Source source) { return kSourceIds[static_cast<std::size_t>(source)]; }
std::string_view textOf(Source source) { return kSourceTexts[static_cast<std::size_t>(source)]; }

void Machine::scale(Tables& tables, const Scaling& scaling) {
  Memory& memory = tables.memories[static_cast<std::size_t>(scaling.scenario)];
  switch (scaling.figure) {
    case Scaling::Figure::Use:
      for (Use& use : tables.uses[static_cast<std::size_t>(scaling.kind)])
        if (use.unit == scaling.unit) use.cycles *= scaling.factor;
      break;
    case Scaling::Figure::Latency:
      tables.latencies[static_cast<std::size_t>(scaling.kind)].cycles *= scaling.factor;
      break;
    case Scaling::Figure::MemoryLatency: memory.latency *= scaling.factor; break;
    case Scaling::Figure::MemoryBytes: memory.bytesPerCycle *= scaling.factor; break;
  }
}

Machine::Machine(uint32_t number, std::span<const Scaling> scalings) {
  const auto tables = std::make_shared<Tables>();
  const uint32_t known = Target(number).figures();
  tables->architecture = known;
  for (std::vector<Use>& uses : tables->uses) uses.push_back({Unit::Issue, 1, Source::Whitepaper});
  for (const UseRow& row : kUses)
    if (row.first <= known && known <= row.last)
      tables->uses[static_cast<std::size_t>(row.kind)].push_back(row.use);
  for (const LatencyRow& row : kLatencies)
    if (row.first <= known && known <= row.last)
      tables->latencies[static_cast<std::size_t>(row.kind)] = {row.cycles, row.source};
  for (const MemoryRow& row : kMemories)
    if (row.architecture == known) tables->memories[static_cast<std::size_t>(row.scenario)] = row.memory;
  for (const Scaling& scaling : scalings) scale(*tables, scaling);
  tables_ = tables;
}

std::span<const Use> Machine::uses(Kind kind) const { return tables_->uses[static_cast<std::size_t>(kind)]; }
double Machine::latency(Kind kind) const { return tables_->latencies[static_cast<std::size_t>(kind)].cycles; }
Source Machine::latencySource(Kind kind) const { return tables_->latencies[static_cast<std::size_t>(kind)].source; }
const Memory& Machine::memory(Scenario scenario) const {
  return tables_->memories[static_cast<std::size_t>(scenario)];
}
uint32_t Machine::figuresOf() const { return tables_->architecture; }

}  // namespace ptxopt::target
