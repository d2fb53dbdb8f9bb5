// What the page shows of one function.
#pragma once

#include "analysis/machine/kernel_needs.h"
#include "dump/view.h"
#include "ptxas/measures.h"
#include "ptxas/timed_cubin.h"
#include "report/sources.h"
#include "support/json.h"

namespace ptxopt::report {

// The points are those of RegisterPressure: the start of each block and the place after each instruction. Lines
// are those of the module's text.
//   name demangled            the second is empty where there is none
//   entry first text             as in the file; `text` are its lines from line `first` on
//   line data pred uniform source   a column each, by point; source: a number of `sources`, or -1
//   isStart                     the points that are the start of a block
//   maximum worst               data and uniform units at most, and the point
//   blocks                      [first point, end, first line, last line, loop or -1, reachable, [successors]],
//                               -1 among the successors: leaves the function
//   loops                       [header, parent or -1, depth, irreducible, blocks, units at most]
//   registers                   [name, type, units, file, [first point, end, ...]], in halves of units
//   opcodes                     [name, how many], many first
//   threads shared barriers     what a block needs; threads 256 where the file does not say
//   estimates                   [what, registers]
//   ptxas                       counts, or null
//   time                        time_data.h; not there without `time`
Json kernelData(dump::FunctionView& view, const ModuleCalledNeeds& called, Sources& sources,
                const ptxas::FunctionMeasures* ptxas, const ptxas::TimedFunction* time);

}  // namespace ptxopt::report
