// When one warp alone issues the instructions of a region: in order, after the stalls and scoreboards that ptxas encoded.
//
// An instruction waits for the stall of the one before, for its scoreboards, and for the units that it takes. An
// instruction that is not always executed counts by its frequency: so much of its wait, its stall and its units. An
// iteration of a loop begins with what the one before left outstanding; iterations are added until one takes as long as
// the one before.
//
// Sources: the control bits are those of sass/instruction.h. Huerta et al., "Analyzing Modern NVIDIA GPU cores" (2025), has
// how the issue stage reads them. Cost: linear in the instructions, times the iterations.
#pragma once

#include <vector>

#include "target/machine.h"
#include "timing/regions.h"
#include "timing/timed_code.h"

namespace ptxopt::timing {

struct Issue {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t instruction = 0;  // in TimedCode
  double frequency = 0;
  double at = 0;     // cycles from the beginning of the iteration
  double stall = 0;  // until the next one, with nothing to wait for
  // Cycles that it waited for scoreboards or a unit, and the issue before it in this iteration, or one of the iteration
  // before, that it waited for; kNone: it did not.
  double wait = 0;
  uint32_t waitedFor = kNone;  // in Trace::issues
  bool isFromIterationBefore = false;
  Unit unit = Unit::Issue;  // that was taken; Issue: it waited for a scoreboard
};

struct Trace {
  std::vector<Issue> issues;  // of the last iteration, in the order of addresses
  double cycles = 0;          // of it
};

Trace traceOf(const TimedCode& code, const Region& region, const Machine& machine, Scenario scenario);

// What holds an iteration up, from its end back: issues, each with the cycles from it to the next of the path. A path
// that comes to the beginning of the iteration, in a loop, ends there.
struct PathStep {
  uint32_t issue = 0;  // in Trace::issues
  double cycles = 0;
};
std::vector<PathStep> criticalPath(const Trace& trace);

}  // namespace ptxopt::timing
