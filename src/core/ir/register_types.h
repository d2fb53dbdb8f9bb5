// What instructions take a register as, by its declared type.
//
// ptxas decides by the declared type which instructions may have a register, and not all the same way: operations
// on bits (`.b32`, `.b64`) also take float registers of their width, 32-bit integer operations take `.f16x2`, and
// conversions, loads and stores take wider registers. A pass that gives an instruction another opcode, or puts a
// register into an instruction of its own, must not rely on what the old instruction took: it asks here. An
// integer register is one that every integer instruction of its width takes in every place, as a source, a result,
// a shift amount, and an address: `.b32`, `.u32`, and `.s32`, but neither `.f32` nor `.f16x2`, and no vector.
// (Asked of ptxas 13.0 by an instruction for each kind of operand and each type of register.)
#pragma once

#include "ir/function.h"

namespace ptxopt {

// The width of an integer register: 16, 32, or 64; 0 for all others.
inline unsigned integerBits(const Register& r) {
  return r.lanes == 1 && isIntegerOrBits(r.type) ? info(r.type).bits : 0;
}

// Whether an operand is an integer register of this width as it is: not negated, no sum, no part of a vector.
inline bool isIntegerRegister(const Function& f, const Operand& o, unsigned bits) {
  return o.isRegister() && o.flags == 0 && integerBits(f.registers[o.payload]) == bits;
}

}  // namespace ptxopt
