// Which registers of the PTX ptxas will keep in registers of the machine, and for how long: a simple model.
//
// ptxas schedules, folds and rematerializes before it allocates, so the PTX's own live ranges are longer and more
// than what is allocated. The model leaves out what almost never costs a register, and makes longer what has to
// live in its place. Every rule looks at registers of the data file with one definition, which is not guarded:
//   1. Constants: a `mov` of a number or an address, and what is loaded from the parameters of a kernel or from a
//      fixed place of constant memory, is an operand of those that read it, or made again there. So are the sizes
//      of grid and block.
//   2. Integers of the uniform file (as the pressure has it) go there, where there is one: from sm_75 on.
//   3. Copies: `mov` and `cvta` of a register with one definition; the source lives on instead.
//   4. Addresses: the sum of a register and a number that is read as an address only. The number goes to the
//      instruction; the register lives on.
//   5. Scaling: a widening of 32 bits (`cvt`, `mul.wide` or a shift by a number) that is read in 64-bit sums and
//      scalings only is done with them in one instruction; its 32-bit source lives on instead.
//   6. The upper half of a 32-bit number extended by zeros is the zero register: one unit.
// A register that is left out lends its range to the registers it is made of, those left out again to theirs.
// What this misses: order changed by the scheduler, loops that ptxas unrolls, values shared between instructions.
// Cost: linear in operands and segments, plus sorting the segments of a register.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "analysis/machine/register_pressure.h"

namespace ptxopt {

// What goes to one register, pair or quad of the machine.
struct AllocatedValue {
  RegId reg;
  RegisterSize size;
  // Points where it is live, ascending and apart from each other.
  struct Span {
    uint32_t first = 0, last = 0;
    friend bool operator==(const Span&, const Span&) = default;
  };
  std::span<const Span> spans;  // in the array of all
  friend bool operator==(const AllocatedValue& a, const AllocatedValue& b) {
    return a.reg == b.reg && a.size == b.size && std::ranges::equal(a.spans, b.spans);
  }
};

struct AllocatedValues {
  AllocatedValues() = default;
  AllocatedValues(AllocatedValues&&) = default;  // values refer to their spans
  AllocatedValues& operator=(AllocatedValues&&) = default;
  std::vector<AllocatedValue::Span> spans;
  std::vector<AllocatedValue> values;  // in the order of the first point where each is live
  // By register: which of `values` is read where it is read; kNone for one that costs nothing.
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> valueOf;
  friend bool operator==(const AllocatedValues&, const AllocatedValues&) = default;
};
AllocatedValues allocatedValues(const Module& module, const Function& function, const RegisterPressure& pressure);

// Units of the allocated values at each point.
std::vector<uint32_t> allocatedUnits(const AllocatedValues& allocated, std::size_t points);

}  // namespace ptxopt
