// Counting machine instructions and loops in what ptxas made (sm_70 and newer), by the decoder in src/measure/sass.
//
// The branch to itself and the NOPs that pad a function's end do not count. src/measure/sass/control_flow.h says what a loop is.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ptxas/measures.h"
#include "sass/control_flow.h"
#include "target/machine.h"

namespace ptxopt::ptxas {

struct MachineCodeCounts {
  uint32_t instructions = 0;
  uint32_t inner = 0;  // in innermost loops, together
  uint32_t innerLoops = 0;
};

// By src/measure/timing, of a kernel with its `warps` and `threads`; rounded to hundredths of a cycle. `isLaunchKnown`:
// SMs hold that many warps, not fewer.
ModelledTime timeMachineCode(std::string_view text, uint32_t architecture,
                             std::span<const sass::IndirectBranch> branches, const FunctionMeasures& kernel,
                             const target::Machine& machine, bool isLaunchKnown = false);

// From the bytes of a .text section; `architecture` is the number of sm_NUMBER.
MachineCodeCounts countMachineCode(std::string_view text, uint32_t architecture,
                                   std::span<const sass::IndirectBranch> branches = {});

}  // namespace ptxopt::ptxas
