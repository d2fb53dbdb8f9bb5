// The test that ends a loop, as the carry of a counter that goes down.
//
// What:       a counter that only the test needs is replaced by one that begins with the number of iterations that follow,
//             and goes down by 1 with add.cc: the loop goes on where that carries, which is where the counter was not
//             0. ptxas takes the predicate of the addition for addc and the comparison of its result, so an iteration has
//             neither a comparison nor a limit. A counter of 64 bits that may need them is one of 64 bits again, which
//             pays where a comparison of 64 bits is two instructions (costs.def).
// Algorithm:  as for the test of a pointer (pointer_test.h): the loop's cost without what the test reads says whether
//             the counter goes (loop_cost.h). The trip count is exact, so the loop has no other way out.
// Invariants: the comparison is true where it was. Each iteration runs the test, so the counter goes down once in each. The
//             three instructions stand together, and nothing else in the function reads or writes the carry flag.
// Declines:   several tests, no exact trip count, a trip count that cannot be computed before the loop or costs more
//             than it saves, functions that use the carry flag; counters of 64 bits in PTX before 4.3.
#pragma once

#include "passes/addressing/formulas.h"
#include "passes/addressing/loop_cost.h"

namespace ptxopt {

struct CarryTest {
  ExitTest test;
  uint32_t tested = 0;  // the operand that is no longer read
  ExprId iterations;    // that follow the first
  unsigned setup = 0;
  double gain = 0;  // machine instructions an iteration
};

// `replaced`: operands that the choice of forms no longer reads (LoopCost::needed).
std::optional<CarryTest> findCarryTest(FormulaTerms& t, LoopCost& cost, std::vector<uint32_t> replaced);

void applyCarryTest(Function& f, PassContext& context, Expander& expander, const CarryTest& c,
                    const ExpansionPlace& preheader);

// Whether any instruction reads or writes the carry flag.
bool usesCarry(const Function& f);

}  // namespace ptxopt
