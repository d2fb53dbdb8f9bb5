// Data registers that hold one value for all threads of a block, for as long as the kernel runs.
//
// What:       a register is uniform when it has a single definition, not guarded, that computes from constants of
//             the launch (parameters of a kernel, immediates, addresses of variables, %ctaid, %ntid and the like,
//             constant memory) and from uniform registers whose definitions come before it on every way. So it is
//             written with one value, whenever and by whichever thread it is written.
// Algorithm:  one sweep in reverse post-order, in which sources whose definitions dominate a use come before it. A register
//             that needs itself, a counter say, is not uniform: threads may be in different iterations of the loop.
// Misses:     registers with several definitions, since which one came last depends on the way that a thread took;
//             that all take one way is never assumed. Sources whose definition does not dominate the use: a thread
//             that comes another way reads what nobody wrote. Results of warp-wide operations (shfl, vote, redux),
//             which are one value for a warp, but not for the block, nor twice.
// Cost:       linear in instructions and operands; 5 bytes a register while computing.
#pragma once

#include "analysis/dataflow/dominators.h"
#include "analysis/machine/register_files.h"

namespace ptxopt {

// By RegId. `dominators` is the tree of dominators of `cfg`, which is complete().
BitVector findUniform(const Module& module, const Function& function, const Cfg& cfg,
                      const DominatorTree& dominators);

// Whether an operand that is not a register is one value for all threads of a block. `loadsParameter`: it belongs to a
// load of a kernel's parameters.
bool isUniformSource(const Module& module, const Function& function, const Operand& o, bool loadsParameter);

// The files of all registers, uniform ones in their own.
RegisterFiles findRegisterFiles(const Module& module, const Function& function, const Cfg& cfg,
                                const DominatorTree& dominators);

}  // namespace ptxopt
