// How many registers a block would take if its instructions were reordered for speed only.
//
// ptxas moves loads up and interleaves independent chains, as far as registers allow; so where a kernel uses few
// registers in the order of its text, it gets more than that order needs. The model: a list scheduler that issues
// one instruction a cycle, of those whose sources are ready the one with the longest way to the end of the block,
// with rough latencies. Instructions with effects stay in their order; loads do not cross those that write memory
// or wait; nothing leaves its block. Registers that the block's end needs stay live to it. A register with several
// definitions in a block counts from the first to the last read of any.
// Cost: n log n in the instructions of a block; for each allocated span, the blocks that it goes through.
#pragma once

#include <cstdint>

#include "analysis/values/allocated_values.h"

namespace ptxopt {

// The most units live at a time in the new order, in all blocks. Only what is allocated counts. Where that is `enough` or more,
// a number that is at least `enough`. Blocks that cannot have more than another are not scheduled.
uint32_t eagerPressure(const Module& module, const Function& function, const RegisterPressure& pressure,
                       const AllocatedValues& allocated, uint32_t enough = UINT32_MAX);

}  // namespace ptxopt
