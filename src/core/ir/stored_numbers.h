// Stores narrower than their register, of what may be a floating-point number.
//
// The PTX ISA says that such a store keeps the low bits. ptxas converts instead where it takes the register for a number:
// `st.u8 [a], %r1` after `add.f32 %r1, ...` is F2I.U8 (rounded to zero, saturated), and `st.f32` of 64 bits converts an
// integer or a double. It knows within one of its own blocks what an instruction made, and forgets it at every label,
// branch, call, division, vote, guarded access and more; then the register holds what it is declared for. A mov of bits makes
// bits. So the same store has one meaning or the other by what stands around it, in ptxas 12.0 to 13.0 for all stores, and
// from 13.1 on for st.param, sust and st.v2.f32 (docs/ptxas.md). Only stores do so: ptxas refuses operands of other widths in
// atomics and in st.async, and conversions and shifts take bits.
//
// No change to a function with such a store is safe, so no pass touches it: api/optimize.cpp leaves it as it is, and
// inline-calls copies it nowhere. Passes may not make one either, which `--verify-each` checks: only coalescing joins a
// register that is stored narrowly with one that holds a number, and asks for that StoredNumbers.
// In the doubt a value is a number. Cost: linear in the operands.
#pragma once

#include <span>
#include <vector>

#include "ir/module.h"

namespace ptxopt {

struct StoredNumbers {
  std::vector<bool> isStoredNarrowly;  // by RegId
  std::vector<bool> mayBeNumber;       // by RegId; looked for only where some register is stored narrowly
  bool operator==(const StoredNumbers&) const = default;
};

// Whether an instruction of this form is a store that converts numbers.
bool mayStoreNumber(const OpcodeForm& form);

// `stores`: the function's instructions for which mayStoreNumber() holds.
StoredNumbers findStoredNumbers(const Module& module, const Function& f, std::span<const InstrId> stores);

// The first store of the function that may convert a number; none: invalid.
InstrId findNarrowNumberStore(const Module& module, const Function& f);

}  // namespace ptxopt
