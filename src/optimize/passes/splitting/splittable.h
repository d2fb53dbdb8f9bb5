// Which registers may be split.
//
// A range is split without renaming: a carrier takes the value over before the stretch where nobody reads it
// (`mov c, r`), and r is written again after it (`mov r, c`). In between r is dead. Nothing else changes, so that two
// things must hold: every way into the stretch passes a take-over, and every way out to a use a copy back.
// Cost: linear in operands.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/dataflow/live_intervals.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {

// Why a register is never split; empty when it may be.
//   register-class   neither a predicate nor a single register of 16, 32 or 64 bits
//   parameter        of the parameter or return list
//   async            an instruction that completes later may still read or write it
//   unknown-opcode   an opcode that is not in the table names it
//   undefined        it may be read before it is written
std::vector<std::string_view> whyUnsplittable(const Module& module, const Function& f,
                                              const LiveIntervals& intervals);

// Whether a register is only copied to and from: it carries already, and nothing would be gained by another
// carrier.
bool isOnlyCopied(const Module& module, const Function& f, const Occurrences& occurrences, RegId r);

}  // namespace ptxopt
