// Whether ptxas is expected to unroll a loop.
//
// Observed on ptxas 13.0 over 295 kernels of clang: it unrolls innermost loops of few instructions whose last block
// goes back to the header under a guard (by a guarded branch, or by a branch alone after a guarded one out of the loop
// that does not lead to the next block) and by a count that it can compute, and those that run a constant and small
// number of iterations, which it unrolls whole whatever is in them; not loops with `.pragma "nounroll"`, with a test in
// the middle and an unguarded branch back, with calls, barriers, atomics or other ways out.
// This is a guess that a choice of forms rests on, not a fact that correctness needs.
#pragma once

#include "passes/manager/pass.h"

namespace ptxopt {

// Likely: what is above. Possible: also larger loops and those with barriers: ptxas was seen to unroll a few (matmul of
// the samples, by four); for passes that would lose much by it.
enum class Unrolling : uint8_t { Unlikely, Possible, Likely };

// For an innermost loop.
Unrolling expectedUnrolling(const Function& f, PassContext& context, LoopId loop);

}  // namespace ptxopt
