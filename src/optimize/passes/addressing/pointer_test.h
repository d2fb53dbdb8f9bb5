// The test that ends a loop, as one of a pointer that the loop advances anyway.
//
// What:       a counter that only the test needs goes: the loop goes on while the pointer is not what it is in the last
//             iteration. LLVM's loop strength reduction counts down beside the pointers, which is an instruction an iteration.
//             Where a comparison of 64 bits is two instructions (costs.def) only a counter of 64 bits is worth it.
//             Where the pointer advances just before the test, in its block, the test goes before that: the comparison
//             does not wait for the addition, and ptxas leaves fewer cycles before the branch.
// Algorithm:  the value that the test would read of the pointer is {start,+,step} in the iterations of the loop, so in the
//             last iteration it is start + step * trip count. The counter is not needed if the loop's cost without what the
//             test reads is less (loop_cost.h).
// Invariants: the comparison is true where it was; where it moves, nothing on the way reads or writes its predicate,
//             whose name means the same there. That
//             asks that the pointer has the value of the last iteration in no iteration before: its step is a constant of 32
//             bits and not 0, and the trip count is below 2 to the 32. Otherwise a pointer of global memory could come
//             iteration only in a loop that reads or writes every address of its alignment, and no machine has most of
//             them: such a loop must have no other exit, and access memory through the pointer in each iteration.
// Declines:   several tests, no trip count, a limit that cannot be computed before the loop or costs more than it
//             saves.
#pragma once

#include <functional>

#include "passes/addressing/formulas.h"
#include "passes/addressing/loop_cost.h"

namespace ptxopt {

struct PointerTest {
  ExitTest test;
  uint32_t tested = 0;  // the operand that is no longer read
  RegId pointer;
  InstrId place;      // the test goes before it; none: it stays
  ExprId start;       // of the pointer, before the loop
  ExprId iterations;  // 32 bits: what is multiplied by the step; none: `distance`
  ExprId distance;    // 64 bits: from the start to the value in the last iteration
  int64_t step = 0;   // bytes
  int64_t ahead = 0;  // bytes that are added to the product
  unsigned setup = 0;
  double gain = 0;  // machine instructions an iteration
};

// `replaced`: operands that the choice of forms no longer reads (LoopCost::needed).
std::optional<PointerTest> findPointerTest(FormulaTerms& t, LoopCost& cost, const LoopUses& uses,
                                           std::vector<uint32_t> replaced,
                                           const std::function<bool(ExprId)>& isUniform);

void applyPointerTest(Function& f, PassContext& context, Expander& expander, const PointerTest& p,
                      const ExpansionPlace& preheader);

}  // namespace ptxopt
