// The patterns of known_bad_patterns.def, as predicates on functions.
#pragma once

#include "ptxas/known_bad.h"

namespace ptxopt::ptxas {

// The first instruction that has it; none: invalid. AnyText has none.
InstrId findPattern(BadPattern pattern, const Module& module, const Function& f);
// Those that have it and that stand otherwise in a form that the fault does not hit: `exit` after TrapBeforeLabel, the
// operands of NegatedThirdOfMaximum in the other order. None for other patterns.
std::vector<InstrId> avoidable(BadPattern pattern, const Module& module, const Function& f);
bool isAvoidable(BadPattern pattern);
// Whether the module has it outside of functions.
bool hasPattern(BadPattern pattern, const Module& module);

}  // namespace ptxopt::ptxas
