// A static estimate of what a function costs a part of an SM (one of its four schedulers): cycles for each warp.
//
// A region (regions.h) costs the most of these, for each iteration and warp, while the part holds W warps:
//   - the cycles of each unit that its instructions take, instructions issued among them,
//   - the bytes that it moves to and from global memory, by the bandwidth of the level where they lie,
//   - latency: the cycles of a warp alone (issue.h), divided by W.
// What costs the most is the bottleneck. A function costs the most of the same, each summed over its regions by their
// iterations: while one warp is in a region that a unit limits, others are in regions that something else limits. All
// three levels of global memory are distinguished: where data lies is not in the code.
//
// What it does not know: conflicts of banks, accesses that are not coalesced (each thread of a warp is taken to access
// the bytes after those of the thread before), divergence beyond what regions.h says, what other warps wait for at
// barriers, caches of instructions. It ranks two versions of a kernel; it does not predict a time.
//
// Sources: bounds by units and by dependences as in llvm-mca and OSACA (Laukemann et al. 2018); latency hidden by
// resident warps as in Hong and Kim, "An Analytical Model for a GPU Architecture" (2009). Thread-safe: no state.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "target/machine.h"
#include "timing/issue.h"
#include "timing/regions.h"
#include "timing/timed_code.h"
#include "timing/work.h"

namespace ptxopt::timing {

enum class Limit : uint8_t { Unit, Bandwidth, Latency };

struct Bottleneck {
  Limit limit = Limit::Unit;
  Unit unit = Unit::Issue;  // of Limit::Unit
  friend bool operator==(const Bottleneck&, const Bottleneck&) = default;
};
// "FMA", "DRAM bandwidth", "latency".
std::string nameOf(const Bottleneck& bottleneck, Scenario scenario);

struct ScenarioTime {
  double cycles = 0;   // an iteration and warp
  double latency = 0;  // of a warp alone, an iteration; not divided
  double bandwidth = 0;
  Bottleneck bottleneck;
};

struct RegionTime {
  Region region;
  Work work;         // of an iteration
  double bytes = 0;  // of global memory, by a warp in an iteration
  std::array<double, kUnits> units{};
  std::array<ScenarioTime, kScenarios> scenarios;
  // The same while an SM holds few warps (FunctionTime::warpsAlone).
  std::array<ScenarioTime, kScenarios> alone;
};

struct FunctionTime {
  uint32_t warps = 0;       // of an SM, that the estimate is for
  uint32_t warpsAlone = 0;  // that `alone` is for: one for each part, or a block's, if these are more; or `warps`
  std::vector<RegionTime> regions;  // as regionsOf() has them
  RegionTime whole;                 // without a region: a warp from its beginning to its end
};

// The parts of an SM, each with a scheduler.
inline constexpr uint32_t kParts = 4;

// Iterations of each loop where nobody says more.
inline constexpr double kAssumedIterations = 8;

struct TimeOptions {
  uint32_t warps = 0;          // resident in an SM; 0: one for each part
  uint32_t threads = 0;        // of a block; 0: not known
  bool isLaunchKnown = false;  // an SM never holds fewer than `warps`
  IterationsOf iterationsOf;   // none: kAssumedIterations
  CountOf countOf;             // none: branches are taken as regions.h says
};

// A digest of all figures of a machine, of the way that they are put together, and of the warps that SMs hold, in
// hexadecimal digits: estimates with the same digest may be compared.
std::string digestOf(const Machine& machine);

FunctionTime estimate(const TimedCode& code, const Machine& machine, const TimeOptions& options);

}  // namespace ptxopt::timing
