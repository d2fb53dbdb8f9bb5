// Liveness for functions where a bit for each block and global register is too much: the result as runs of blocks
// (live_runs.h), found without ever having all the bits at once.
//
// Plain: 64 registers at a time, one word a block. Each block has the registers that are live at its start and
// those that need not come there, because they are live there already or are written there in full. What is new at
// a block's start goes to its predecessors, in sweeps in post-order over the blocks that have something new. Then
// the blocks that were touched, in the order of the text, give the runs. Registers are solved together that should
// live in the same places: of one file, with ranges about as long, and first read near each other. How long is not
// known at first: a value read in a loop is live all through the loop, one that is never written up to the entry.
// So the first visits are few; the registers that want to go on are put together anew and get eight times as many,
// until all are done.
//
// Needed (liveness.h): an instruction is needed when it has an effect, or when what it writes reaches a read of a
// needed one. Marking begins at the instructions with effects: each read goes to the last write before it in its
// block; when there is none, the register is live at the block's start, and the search goes on at the end of each
// predecessor. A write in full ends the search; a mod is a read too and goes on by itself. What is needed is live:
// the places that a search has seen, and those that write the register, are bits for each pair that the runs of
// `Plain` have, and nothing else.
//
// Cost: Plain at most blocks times global registers / 64 steps, times the depth of loops, and far less where
// registers are live in few blocks; memory 28 bytes a block, 4 bytes an operand, and the runs. Needed one step for
// each register at each block where it is live, with a binary search among the writes of the register; memory two
// bits for each such pair, about 20 bytes an instruction, and the runs.
// Decline (no value) when the runs take more than `mostBytes`; Needed also when there are 2^32 pairs or more, or
// their bits take more than that.
#pragma once

#include <optional>
#include <vector>

#include "analysis/dataflow/cfg.h"
#include "analysis/dataflow/live_runs.h"
#include "analysis/dataflow/register_numbers.h"

namespace ptxopt {

// `sweeps`: how often blocks were gone over, summed over the groups of registers.
std::optional<std::vector<LiveRuns::Run>> findLiveRuns(const Function& function, const Cfg& cfg,
                                                       const RegisterNumbers& numbers, std::size_t mostBytes,
                                                       std::size_t& sweeps);

// `plain` is what findLiveRuns says.
std::optional<std::vector<LiveRuns::Run>> findNeededRuns(const Module& module, const Function& function,
                                                         const Cfg& cfg, const RegisterNumbers& numbers,
                                                         const std::vector<LiveRuns::Run>& plain,
                                                         std::size_t mostBytes);

}  // namespace ptxopt
