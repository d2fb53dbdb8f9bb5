// What the user says of the launches of a kernel: sizes of the block and of the grid, values of parameters, the memory that
// parameters lead to, how often loops iterate.
//
// Facts are promises. Analyses and passes rely on them; what a kernel does in a launch that breaks one is undefined. Who
// reads them: facts/facts.h. Who checks launches: exec/launch_facts.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "ir/instruction.h"

namespace ptxopt {

// A whole number between two others, a multiple of a third.
struct NumberFact {
  int64_t least = INT64_MIN, most = INT64_MAX;
  uint64_t multiple = 1;

  bool isSaid() const { return least != INT64_MIN || most != INT64_MAX || multiple != 1; }
  std::optional<int64_t> exact() const { return least == most ? std::optional(least) : std::nullopt; }
  bool holds(int64_t value) const {
    return value >= least && value <= most && (multiple == 1 || value % static_cast<int64_t>(multiple) == 0);
  }
};

inline bool operator==(const NumberFact& a, const NumberFact& b) {
  return a.least == b.least && a.most == b.most && a.multiple == b.multiple;
}

// Facts about the memory that is reached through a parameter: by the address that it holds, and numbers added to it.
// How that address is aligned, its NumberFact says.
struct PointerFact {
  bool isNoalias =
      false;  // what a launch writes of it, and what it reads of that, it reaches through this parameter only
  bool isReadonly = false;  // nothing writes there while the launch runs
  uint64_t bytes = 0;       // from the address on, nothing else is reached through it; 0: not known

  friend bool operator==(const PointerFact&, const PointerFact&) = default;
};

// Roughly how many iterations a loop runs whenever control enters it; a hint, not a promise.
struct LoopFact {
  LabelId header;  // a label at which it begins
  uint32_t iterations = 0;
};

// Bits of a parameter, or of a member of one that is a structure, which are the same in all launches: also of what is
// not an integer.
struct ExactPart {
  uint32_t parameter = 0;  // in the order of the kernel's parameters, from 0
  uint32_t offset = 0;     // in the parameter, bytes
  uint32_t bytes = 0;      // 1, 2, 4 or 8
  uint64_t bits = 0;

  friend bool operator==(const ExactPart&, const ExactPart&) = default;
};

struct KernelFacts {
  std::array<NumberFact, 3> block, grid;  // x, y, z
  std::vector<NumberFact> parameters;     // in their order, values of integers; pointers: the address
  std::vector<PointerFact> pointers;      // of parameters, in their order
  std::vector<ExactPart> parts;           // what `parameters` cannot say
  // Roughly how many iterations loops of unknown trip count go; a hint, not a promise. 0: not known.
  uint32_t iterations = 0;
  std::vector<LoopFact> loops;  // those about which more is known

  bool hasIterations() const { return iterations != 0 || !loops.empty(); }
  // Whether some loop may iterate that often.
  bool mayIterate(uint32_t often) const {
    return iterations >= often ||
           std::ranges::any_of(loops, [&](const LoopFact& l) { return l.iterations >= often; });
  }
  // 0: not known.
  uint32_t iterationsOf(LabelId header) const {
    for (const LoopFact& l : loops)
      if (l.header == header) return l.iterations;
    return iterations;
  }

  // Whether of some parameter it is known who writes the memory.
  bool saysOfMemory() const {
    for (const PointerFact& p : pointers)
      if (p.isNoalias || p.isReadonly) return true;
    return false;
  }
};

}  // namespace ptxopt
