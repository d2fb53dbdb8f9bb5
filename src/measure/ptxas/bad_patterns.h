// The patterns of known_bad_patterns.def, as predicates on functions.
#pragma once

#include "ptxas/known_bad.h"

namespace ptxopt::ptxas {

// The first instruction that has it; none: invalid. AnyText has none.
InstrId findPattern(BadPattern pattern, const Module& module, const Function& f);
// Whether the module has it outside of functions.
bool hasPattern(BadPattern pattern, const Module& module);

}  // namespace ptxopt::ptxas
