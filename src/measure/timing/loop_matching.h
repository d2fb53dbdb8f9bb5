// Which loops of one version of a kernel do what loops of another version do, and how often.
//
// In this order:
//   Whole      the loops do the same, or all code does: whole runs can be compared
//   Iterations as many loops on both sides, in the order of the code: an iteration of the one is several of the other
//   Runs       a pass, or ptxas, made of one loop a main loop of several copies, and others of fewer for the iterations
//              that are left. A run of loops after is matched with each loop before: the first does r iterations of the
//              loop before at once, the next ones fewer and fewer, the last one 1
//   Dissolved  one side has one loop more, and the other does as much outside of its loops as that one does in a whole
//              number of iterations: whole runs can be compared with that many
//   Versions   the loops after may be versions of those before, and a check chooses one. For what it computes in
//              floating point (writes, where it computes nothing), a version writes and reads no more. How often each
//              is executed is not known, so nothing is worse if none of them costs more, for the same work, than
//              anything before that it may be a version of
//   Together   all innermost loops together, or all code where one side has no loop: `ratio` times as much after
//   Unknown    nothing shows it
// Invariants: for Runs and Dissolved more than half of what shows the work agrees, what is trusted most among it, and
// r is nearly a whole number; every loop of both is matched.
// Cost: linear; for versions the product of the numbers of loops.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "timing/work.h"

namespace ptxopt::timing {

struct LoopShare {
  std::size_t loop = 0;  // after
  double copies = 1;     // of an iteration before, in one of its iterations
  double iterations =
      0;  // when the first of the run iterates as often as is assumed, and what is left is half of what may be
};

struct VersionOf {
  std::size_t loop = 0;  // before
  double copies = 1;     // of its iteration, in one of the version
};

// A whole run, and its innermost loops in the order of the code.
struct CodeWork {
  struct Loop {
    double iterations = 0;  // in a run
    Work work;              // of an iteration
  };
  Work whole;
  std::vector<Loop> inner;
};

struct WorkMatch {
  enum class Kind : uint8_t { Whole, Iterations, Runs, Dissolved, Versions, Together, Unknown };
  Kind kind = Kind::Whole;
  std::vector<double> iterations;                // Iterations: of each loop before, in one iteration after
  std::vector<std::vector<LoopShare>> runs;      // by loop before
  std::vector<std::vector<VersionOf>> versions;  // by loop after
  struct {
    bool isBefore = true;  // which side has the loop
    std::size_t loop = 0;
    double iterations = 0;  // in a run
  } dissolved;
  Ratio ratio;  // Versions, Together; of the others the one that decided
};
std::string_view nameOf(WorkMatch::Kind kind);  // "whole"

// `isSameFrame`: both use as much local memory. Otherwise what is read and written is not a measure, and everything is
// taken to be the same where there are as many loops.
WorkMatch matchWork(const CodeWork& before, const CodeWork& after, bool isSameFrame, double assumedIterations);

}  // namespace ptxopt::timing
