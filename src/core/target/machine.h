// What the model of time knows of a machine: the units of an SM, how long each kind of instruction takes one, and how
// long its results take. All figures are data, each with its source: units.def, kinds.def, uses.def, latencies.def,
// memory.def and sources.def. docs/timing.md says what they stand for.
//
// Cycles are those of an SM. A unit that each of the four parts of an SM has is taken for that many cycles by one
// instruction of a warp. For a unit that the parts share, four times its own cycles stand in the tables: what an
// instruction costs its part while the other three do the same.
// A target has the figures of the row that targets.def names.
//
// Accesses to memory: a use is for each portion of one (portionsOf in operation.h), 128 bytes. That is a wavefront of
// L1 and shared memory: one cycle of the SM, four in the tables. Without bank conflicts an access of 4 bytes a thread
// is one portion, of 8 bytes two and of 16 bytes four. Bank conflicts and addresses that are not neighbours are not in
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace ptxopt::target {

enum class Unit : uint8_t {
#define TARGET_UNIT(name, text, shared) name,
#include "target/units.def"
};
inline constexpr std::size_t kUnits = 0
#define TARGET_UNIT(name, text, shared) +1
#include "target/units.def"
    ;
std::string_view nameOf(Unit unit);
// Whether all parts of an SM share it.
bool isShared(Unit unit);

// Instructions that take the same units for as long, and whose results take as long.
enum class Kind : uint8_t {
#define TARGET_KIND(name, text) name,
#include "target/kinds.def"
};
inline constexpr std::size_t kKinds = 0
#define TARGET_KIND(name, text) +1
#include "target/kinds.def"
    ;
std::string_view nameOf(Kind kind);

// Where the data of global memory lies.
enum class Scenario : uint8_t { L1, L2, Dram };
inline constexpr std::size_t kScenarios = 3;
std::string_view nameOf(Scenario scenario);

// Where a figure comes from.
enum class Source : uint8_t {
#define TARGET_SOURCE(id, text) id,
#include "target/sources.def"
};
std::string_view idOf(Source source);
std::string_view textOf(Source source);

struct Use {
  Unit unit;
  double cycles;  // for each instruction of a warp; of accesses to memory, for each portion of it
  Source source;
};

struct Memory {
  double latency;        // cycles from a load to its result
  double bytesPerCycle;  // of an SM, while all SMs load
  Source latencySource, bytesSource;
};

// A figure and what it is multiplied by: to ask how much depends on it.
struct Scaling {
  enum class Figure : uint8_t { Use, Latency, MemoryLatency, MemoryBytes };
  Figure figure = Figure::Use;
  Kind kind = Kind::Unknown;         // of a use and a latency
  Unit unit = Unit::Issue;           // of a use
  Scenario scenario = Scenario::L1;  // of memory
  double factor = 1;
};
// From `use:KIND:UNIT=FACTOR`, `latency:KIND=FACTOR`, `memory-latency:SCENARIO=FACTOR` or `memory-bytes:SCENARIO=FACTOR`, with the
// names of kinds.def, units.def and enum class Scenario.
std::optional<Scaling> scalingFrom(std::string_view text);

class Machine {
 public:
  // `number` is that of the target: 90 for sm_90.
  explicit Machine(uint32_t number) : Machine(number, {}) {}
  Machine(uint32_t number, std::span<const Scaling> scalings);

  // Every kind takes Unit::Issue.
  std::span<const Use> uses(Kind kind) const;
  // Cycles until results are written, or, of what has none, until its sources are read. For accesses to global memory,
  // in addition to Memory::latency.
  double latency(Kind kind) const;
  Source latencySource(Kind kind) const;
  const Memory& memory(Scenario scenario) const;
  // The target whose figures these are.
  uint32_t figuresOf() const;

 private:
  struct Tables;
  static void scale(Tables& tables, const Scaling& scaling);
  std::shared_ptr<const Tables> tables_;
};

}  // namespace ptxopt::target
