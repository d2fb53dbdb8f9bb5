// Prints the tables of the model of time, a figure a line, for the scripts of this folder:
//
//   use ARCHITECTURE KIND UNIT CYCLES SOURCE
//   latency ARCHITECTURE KIND CYCLES SOURCE
//   memory ARCHITECTURE SCENARIO LATENCY SOURCE BYTES SOURCE
#include <fmt/format.h>

#include "target/machine.h"
#include "target/target.h"

using namespace ptxopt::target;

namespace {

constexpr const char* kKindIds[] = {
#define TARGET_KIND(name, text) #name,
#include "target/kinds.def"
};
constexpr const char* kUnitIds[] = {
#define TARGET_UNIT(name, text, shared) #name,
#include "target/units.def"
};

constexpr const char* kScenarioIds[] = {"L1", "L2", "Dram"};

}  // namespace

int main() {
  for (const Limits& target : targets()) {
    const uint32_t architecture = target.number;
    if (target.figures != architecture) continue;
    const Machine machine(architecture);
    for (std::size_t n = 0; n < kKinds; ++n) {
      const auto kind = static_cast<Kind>(n);
      for (const Use& use : machine.uses(kind))
        fmt::print("use {} {} {} {} {}\n", architecture, kKindIds[n], kUnitIds[static_cast<std::size_t>(use.unit)],
                   use.cycles, idOf(use.source));
      fmt::print("latency {} {} {} {}\n", architecture, kKindIds[n], machine.latency(kind),
                 idOf(machine.latencySource(kind)));
    }
    for (const Scenario scenario : {Scenario::L1, Scenario::L2, Scenario::Dram}) {
      const Memory& memory = machine.memory(scenario);
      fmt::print("memory {} {} {} {} {} {}\n", architecture, kScenarioIds[static_cast<std::size_t>(scenario)],
                 memory.latency, idOf(memory.latencySource), memory.bytesPerCycle, idOf(memory.bytesSource));
    }
  }
}
