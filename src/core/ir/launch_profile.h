// What launches of a kernel were seen to have: sizes, values of parameters, memory, iterations of loops.
//
// A profile is a hint, never a promise: a launch may have anything else. Passes use it to choose what is worth doing, and
// test in the code what they rely on. Who reads and writes profiles: profile/profile.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/instruction.h"
#include "ir/kernel_facts.h"

namespace ptxopt {

// A number that a kernel reads from its parameters at once: a parameter, or a member of one that is a structure.
struct ParameterPart {
  uint32_t parameter = 0;  // in the order of the kernel's parameters, from 0
  uint32_t offset = 0;     // in the parameter, bytes
  uint32_t bytes = 0;      // 1, 2, 4 or 8
  bool isAddress =
      false;  // each value was an address of the program's memory; then `number` says only its alignment
  // What all launches of the class had. Numbers of a signed type are extended by their sign, others, floating-point numbers
  // among them (as their bits), by zeros; of 8 bytes without a sign those above INT64_MAX count as INT64_MAX, and are never exact.
  NumberFact number;

  friend bool operator==(const ParameterPart&, const ParameterPart&) = default;
};

// Launches with the same block and the same values of those parameters that do not vary too much.
struct LaunchClass {
  uint64_t launches = 0;
  double time = 0;  // of all of them, in the profile's unit
  std::array<uint32_t, 3> block{1, 1, 1};
  std::array<NumberFact, 3> grid;    // the range, only to be weighed with
  std::vector<ParameterPart> parts;  // by parameter and offset
  // Whether the memory that was reached through parameters was watched; if not, the two lists say nothing.
  bool isMemoryKnown = false;
  std::vector<uint32_t> written;  // parameters through which something was written, ascending
  std::vector<std::pair<uint32_t, uint32_t>>
      overlapping;  // parameters whose reached ranges met in some launch, first < second

  friend bool operator==(const LaunchClass&, const LaunchClass&) = default;
};

// How often a loop was entered, and how many iterations all of these made.
struct LoopCount {
  LabelId header;  // a label at which it begins
  uint64_t entries = 0, iterations = 0;
};

struct LaunchProfile {
  uint64_t launches = 0;  // 0: the kernel was not seen
  double time = 0;        // of all its launches, in the profile's unit
  double share = 0;       // of the time of all kernels of the profile, 0 to 1
  std::vector<LaunchClass>
      classes;  // those that took most time first; launches of no class are in `launches` and `time` alone
  std::vector<LoopCount> loops;

  bool isSeen() const { return launches != 0; }
};

}  // namespace ptxopt
