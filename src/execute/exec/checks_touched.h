// What an op reads and writes, as the checks need it: registers by bits, one for each component.
//
// The roles of the operands in the IR say what an instruction reads and writes; that a guard makes a definition
// look like a modification is undone here.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/program.h"

namespace ptxopt::exec {

inline constexpr unsigned kComponents = 4;

struct RegisterUse {
  RegId reg;
  uint32_t first = 0;  // bits: register * kComponents, and the component
  uint8_t count = 1;
};

struct Touched {
  std::vector<RegisterUse> reads, writes, guard;
  bool readsAtomically = false;  // an atomic operation that looks at the old value
  bool takesStack = false;       // what lies above the stack's top is new from here on
  bool calls = false;
  const CallSite* builtin = nullptr;
};

Touched touchedBy(const Module& module, const Routine& routine, const Op& op);

}  // namespace ptxopt::exec
