// Counting machine instructions (sm_70 and newer: 16 bytes each).
//
// A function ends in a branch to itself and padding, which do not count. A branch is told by the low 12 bits; its
// offset, in bytes / 4 from the next instruction, stands in the bits from 34 on; from sm_90 on the offset's low
// byte is apart, in the bits from 16 on: the branch to itself at the end shows which it is. A loop is what lies
// from the target of a branch backwards to that branch; an innermost one has no other such stretch within.
#pragma once

#include <cstdint>
#include <string_view>

namespace ptxopt {

struct MachineCodeCounts {
  uint32_t instructions = 0;
  uint32_t inner = 0;  // in innermost loops, together
  uint32_t innerLoops = 0;
};

// Of the bytes of a .text section. Linear but for innermost loops, which are sorted.
MachineCodeCounts countMachineCode(std::string_view text);

}  // namespace ptxopt
