// What forms of addresses cost in machine instructions, as ptxas 13.0 makes them for sm_75 to sm_90 in loops that
// it does not unroll (step.h and docs/ptxas.md say how that was measured).
#pragma once

#include <cstdint>

namespace ptxopt {

// ---- in each round ----
inline constexpr double kRecurrence64 = 3;  // the step of a 64-bit register around the loop by a constant
inline constexpr double kProductStep = 1;   // ... by a product
inline constexpr double kRecurrence32 = 1;
inline constexpr double kAdd64 = 2, kMultiply64 = 4, kCompare64 = 2;
inline constexpr double kWideProduct = 1;      // mul.wide, with the addition that reads it
inline constexpr double kMultiplyAddWide = 3;  // mad.wide
inline constexpr double kNewPointer = 0.25;    // of a pointer that was not there: one more register that moves

// ---- before the loop ----
inline constexpr double kUnitSetup = 3;  // for the register that holds 1
inline constexpr int kStartSaved = 2;    // of the start of a pointer that is no longer needed

inline constexpr double kRounds = 4;       // what a round counts against an instruction before the loop
inline constexpr double kRegister = 0.05;  // what a 32-bit unit counts

// Of immediates of addresses, either way: 24 bits with their sign.
inline constexpr int64_t kMostImmediate = (int64_t{1} << 23) - 1;

}  // namespace ptxopt
