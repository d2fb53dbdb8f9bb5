// What forms of addresses cost in machine instructions in loops that ptxas does not unroll, the same on every
// architecture. What depends on the architecture is in target/costs.def.
#pragma once

#include <cstdint>

namespace ptxopt {

// ---- in each iteration ----
inline constexpr double kRecurrence32 = 1;
inline constexpr double kNewPointer = 0.25;  // of a pointer that was not there: one more register that moves

// ---- before the loop ----
inline constexpr double kUnitSetup = 3;  // for the register that holds 1
inline constexpr int kStartSaved = 2;    // of the start of a pointer that is no longer needed

inline constexpr double kIterations = 4;   // what an iteration counts against an instruction before the loop
inline constexpr double kRegister = 0.05;  // what a 32-bit unit counts

// Reach of an address's immediate, either way: 24 bits with their sign.
inline constexpr int64_t kMostImmediate = (int64_t{1} << 23) - 1;

}  // namespace ptxopt
