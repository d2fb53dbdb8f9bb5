// Two estimates of how many registers ptxas will give a kernel.
//
// Both look at the values that ptxas is expected to keep (allocated_values.h).
//   Plain      the most units that are live at a point
//   FatPoint   slots taken when values are put, one after the other in the order of the text, into the slot that
//              has gathered the least weight. A slot's hard weight counts the points where values already in it
//              are live together with the new one; its soft weight breaks ties: it grows with the lengths of the
//              ranges in the slot, and where the other operand of an instruction of the new value is of the same
//              parity, since the two would be read from one bank. 64 bits take an even slot and the next, 128 bits
//              and the elements of a vector access a slot that is a multiple of four (of two for two) and those
//              after it. A slot that was never used is taken only when no used one has hard weight 0; when all 255
//              are taken, the one with the least weight is, and the value counts as spilled.
// Each gets what ptxas needs beyond the values, fitted over test kernels (tests/codegen/calibration/run.py; the constants
// are in register_estimate.cpp). The fat-point estimate also follows the scheduler: up to 32 registers ptxas spends
// what reordering for speed asks for (eager_schedule.h), beyond that it keeps to what it needs. Both heed the
// limits that the kernel states (.maxnreg, .maxntid with .minnctapersm) and the least that a kernel with calls
// gets. What neither knows: loops that ptxas unrolls, and how far it goes beyond 32 registers for speed. Cost:
// Plain is linear in the allocated spans; FatPoint tries up to 255 slots for each allocated value.
#pragma once

#include <string>

#include "analysis/values/allocated_values.h"

namespace ptxopt {

struct RegisterEstimate {
  uint32_t mostUnits = 0;            // of all registers of the PTX, as they are
  uint32_t mostAllocated = 0;        // of those that ptxas is expected to keep
  uint32_t eager = 0;                // of those, if the scheduler minds no registers (eager_schedule.h)
  uint32_t slots = 0;                // the fat-point model's: the highest slot and one
  uint32_t spilled = 0;              // values that found no slot
  uint32_t plain = 0, fatPoint = 0;  // registers: the estimates
  uint32_t limit = 0;                // the most that the kernel's directives allow
  bool hasCalls = false;
  friend bool operator==(const RegisterEstimate&, const RegisterEstimate&) = default;
};

// What the kernel's directives allow: .maxnreg, or registers for .minnctapersm blocks of .maxntid threads.
uint32_t statedRegisterLimit(const Module& module, const Function& f);

// `allocated`: the values of that pressure.
RegisterEstimate estimateRegisters(const Module& module, const Function& function, const RegisterPressure& pressure,
                                   const AllocatedValues& allocated);
RegisterEstimate estimateRegisters(const Module& module, const Function& function,
                                   const RegisterPressure& pressure);

// The plain one of the two alone, in linear time.
uint32_t plainRegisters(const Module& module, const Function& function, const RegisterPressure& pressure,
                        const AllocatedValues& allocated);

// The fat-point one alone, which is dear, too.
uint32_t fatPointRegisters(const Module& module, const Function& function, const RegisterPressure& pressure,
                           const AllocatedValues& allocated);

// Stable text, one line.
std::string toString(const RegisterEstimate& estimate);

}  // namespace ptxopt
