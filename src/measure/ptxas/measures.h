// What ptxas made of each function of a PTX file, in figures.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptxas/code_digest.h"
#include "ptxas/notes.h"
#include "timing/work.h"

namespace ptxopt::ptxas {

// What the model of time makes of a function (src/measure/timing), in cycles of a warp, where data lies in L1, L2 and DRAM.
struct ModelledTime {
  using Cycles = std::array<double, 3>;
  struct Loop {
    double iterations = 0;  // in a run of the function, kAssumedIterations whenever it is entered
    Cycles cycles{};        // of an iteration
    timing::Work work;      // in it
    friend bool operator==(const Loop&, const Loop&) = default;
  };
  std::string model;        // a digest of what it knows: figures of two models are not compared
  Cycles whole{};           // from its beginning to its end, kAssumedIterations of each loop
  timing::Work work;        // as `whole`
  std::vector<Loop> inner;  // innermost ones, by address
  // As `whole`, while an SM holds few warps: those of a block where its size is known, at least one for each part. And of an
  // iteration of each loop, without the loops in it.
  Cycles alone{};
  std::vector<Cycles> loopsAlone;
  // For a kernel of two bodies, one chosen by a test at its entry (timing/launch_versions.h): as if it had the one, and
  // as if it had the other, in the order of addresses. Otherwise none.
  std::vector<ModelledTime> versions;
  friend bool operator==(const ModelledTime&, const ModelledTime&) = default;
};

// How a kernel is launched, where that is known; 0: it is not.
struct LaunchSize {
  uint32_t threads = 0;  // of a block
  uint64_t blocks = 0;   // of the grid
  friend bool operator==(const LaunchSize&, const LaunchSize&) = default;
};

struct FunctionMeasures {
  std::string name;  // as mangled in the PTX
  bool isKernel = false;
  uint32_t registers = 0;                           // a thread
  std::optional<uint64_t> spillStores, spillLoads;  // bytes; only messages of ptxas tell, cubins do not
  uint64_t stack = 0, shared = 0, constant = 0;     // bytes; shared: static; constant: of its own bank 0
  uint32_t barriers = 0;
  uint32_t threads = 0;       // the most of a block; 0: not said
  uint32_t instructions = 0;  // of the machine, without padding
  uint32_t inner = 0;         // of these, in innermost loops
  uint32_t innerLoops = 0;
  uint32_t warps = 0;                // of the kernel, that an SM holds at a time; 0: not a kernel, or it cannot run
  std::optional<ModelledTime> time;  // none: a function without code of its own, or an architecture before sm_70
  std::string code;                  // a digest of its machine code; empty where it is not known
  std::optional<CodeParts> codeParts;
  std::optional<std::vector<Note>> notes;  // only messages of ptxas tell
  std::optional<uint64_t> compileTime;     // of ptxas for a kernel, in ms of CPU time, where that was measured

  uint64_t spills() const { return spillStores.value_or(0) + spillLoads.value_or(0); }
  friend bool operator==(const FunctionMeasures&, const FunctionMeasures&) = default;
};

struct Measures {
  std::string architecture;                 // "sm_80"
  std::vector<FunctionMeasures> functions;  // by name, in order

  const FunctionMeasures* find(std::string_view name) const;
  friend bool operator==(const Measures&, const Measures&) = default;
};

// Threads of a block that count where the kernel does not say: such as most kernels are launched with.
inline constexpr uint32_t kThreadsWhenUnknown = 256;

// Fills in `warps` of a kernel from the occupancy tables, not more than that many blocks give each SM. Nothing for an
// architecture that they do not have.
void setWarps(FunctionMeasures& kernel, std::string_view architecture, uint64_t blocks = 0);

}  // namespace ptxopt::ptxas
