// Cutting a function into what is timed by itself, and how often a thread executes each.
//
// A region is a loop without the loops in it; or the code in no loop that control reaches from the function's beginning;
// or that from the beginning of a subroutine that ptxas put into the same section. Inside a region control goes forward.
// What is not known of a branch: both ways are taken alike, but these are not taken while there is another: a way that leaves
// the loop, one that leads straight to the end of the thread and writes nothing, one that skips a loop that the other
// comes to, one that cannot but come to a loop that is said to be never entered, and one that only skips a few instructions: ptxas puts such
// under a guard or after a branch, and under a guard they are executed. Where counts of a run are there, these say how often a way is
// taken. How often a loop iterates is the caller's to say.
//
// Algorithm: frequencies are carried forward in reverse postorder; inner loops are single nodes there. Cost: linear, for
// each level of nesting.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "timing/timed_code.h"

namespace ptxopt::timing {

struct Visit {
  uint32_t block = 0;
  double frequency = 0;  // in an iteration of the region
};

// Who says how often a loop iterates: nobody; the caller; the loop itself, by a constant trip count; counts of a run.
enum class IterationsFrom : uint8_t { Assumed, Given, Known, Profiled };
std::string_view nameOf(IterationsFrom from);  // "assumed"

struct Region {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t loop = kNone;                          // in ControlFlow::loops(); none: code in no loop
  std::vector<Visit> visits;                      // its own blocks, by address
  double iterations = 0;                          // by a thread, in a whole run of the function
  IterationsFrom from = IterationsFrom::Assumed;  // of a loop
};

struct Iterations {
  double all = 0;  // in a whole run of the function by a thread
  IterationsFrom from = IterationsFrom::Assumed;
};
// For a loop, that is entered so often.
using IterationsOf = std::function<Iterations(uint32_t loop, double entries)>;
// That many iterations, each time.
inline IterationsOf sameIterations(double iterations, IterationsFrom from = IterationsFrom::Assumed) {
  return [=](uint32_t, double entries) { return Iterations{entries * iterations, from}; };
}

// What counts say of a block of machine code: which block of the PTX it comes from, by any number, and how often that
// was reached.
struct BlockCount {
  uint32_t of = 0;
  double count = 0;
};
using CountOf = std::function<std::optional<BlockCount>(uint32_t block)>;

// Code in no loop first, then subroutines, and each loop after the one around it. What nothing reaches is in no region.
std::vector<Region> regionsOf(const TimedCode& code, const IterationsOf& iterationsOf, const CountOf& countOf = {});

}  // namespace ptxopt::timing
