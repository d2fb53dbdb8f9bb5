// Other spellings of plain accesses: with .nc, and of vectors.
//
// A plain access is weak, of one value of 8 to 64 bits, and says a space, perhaps how it is cached, and nothing else. Cost:
// linear in the spelling.
#pragma once

#include <string>
#include <string_view>

#include "ir/opcodes.h"

namespace ptxopt {

// `ld.global.cg.v2.f32` to `ld.global.cg.nc.v2.f32`: weak loads of global memory of at most 16 bytes; empty for others.
std::string nonCoherentLoad(std::string_view opcode, const OpcodeForm& form);
// `ld.global.nc.f32` to `ld.global.nc.v4.f32`: loads and stores of global and shared memory, of 2 or 4 values that have at
// most 16 bytes together; empty for others.
std::string vectorAccess(std::string_view opcode, const OpcodeForm& form, unsigned lanes);

}  // namespace ptxopt
