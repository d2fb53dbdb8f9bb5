// What the page shows of the modelled time of a function.
#pragma once

#include "ptxas/timed_cubin.h"
#include "support/json.h"

namespace ptxopt::report {

//   warps threads iterations        what the estimate is for; iterations: of each loop; threads: 0 for a function
//   whole                       [[cycles, bottleneck] in L1, L2, DRAM], a warp from its beginning to its end
//   regions                     [name, depth, first line, last line, iterations, instructions, as `whole`], an
//                               iteration; lines 0: not known
//   hottest                     the loop that takes the most cycles in all its iterations (L2), or -1
//   lines                       [line, machine instructions, cycles to issue, is hot, wait, line that it is for]
// Lines are those of the module's text; one row for each that machine code was made of, hot where some of it is in the
// hottest loop. Cycles to issue are those of a warp alone, without waits, in all iterations. The wait is the longest of
// an iteration with data in L2; 0 cycles: none; line 0: not known.
Json timeData(const ptxas::TimedFunction& f);

}  // namespace ptxopt::report
