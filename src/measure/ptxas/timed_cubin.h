// The model of time (src/measure/timing) for each function of a cubin, with the lines of PTX that its machine code was
// made of.
//
// Errors: what is not a cubin, an architecture before sm_70, a name that no function has. Thread-safe: no state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptxas/line_table.h"
#include "timing/kernel_time.h"
#include "timing/known_iterations.h"
#include "timing/profile_iterations.h"

namespace ptxopt::ptxas {

// A body of a kernel with several, as if all launches ran it.
struct TimedBody {
  timing::PtxBody of;
  timing::FunctionTime time;
  std::vector<bool> isInBody;  // by block of the code
};

struct TimedFunction {
  std::string name;  // as mangled
  bool isKernel = false;
  uint32_t registers = 0;
  uint32_t threads = 0;  // of a block, that the resident warps are for; 0: not a kernel
  timing::TimedCode code;
  timing::FunctionTime time;
  std::vector<LineRow> lines;  // of the PTX; none for a cubin without them
  // In the order of PtxLoops::bodies; `time` weighs them by their shares. Empty: it has one, or it is not known which
  // code belongs to which body.
  std::vector<TimedBody> bodies = {};

  // For an instruction of `code`; 0: not known.
  uint32_t lineOf(uint32_t instruction) const;
};

// The lines of PTX that a region's own instructions were made of; 0 and 0: not known.
struct LineRange {
  uint32_t first = 0, last = 0;
};
LineRange linesOf(const TimedFunction& f, const timing::RegionTime& region);
// "loop at 0x01d0, lines 40-56", "outside of loops", "subroutine".
std::string nameOf(const TimedFunction& f, const timing::RegionTime& region);

struct TimedCubin {
  std::string architecture;              // "sm_80"
  uint32_t figuresOf = 0;                // the number of the architecture whose figures the model has
  std::vector<TimedFunction> functions;  // by name, in order

  const TimedFunction* find(std::string_view name) const;
};

struct TimedCubinOptions {
  std::string function;  // only this one; empty: all
  uint32_t threads = 0;  // of a block, where the kernel does not say; 0: kThreadsWhenUnknown
  // How often loops iterate: the first of these that says so, otherwise kAssumedIterations whenever control enters a
  // loop.
  const timing::ProfileCounts* profile = nullptr;
  std::optional<double> iterations;         // of each loop, whenever control enters it
  const timing::PtxLoops* loops = nullptr;  // of the PTX, with constant trip counts
};

// What ptxas is to be given besides so that lines of the PTX stand in the cubin; `isDebug`: .target says `debug`. Without
// `debug` the code is the same as without these arguments.
std::vector<std::string> argumentsForLines(bool isDebug);

// Nothing, with the reason in `error`, where there is no estimate.
std::optional<TimedCubin> timeCubin(std::string_view bytes, const TimedCubinOptions& options, std::string& error);

}  // namespace ptxopt::ptxas
