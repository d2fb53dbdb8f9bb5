// Divisions of 32 bits by a divisor that several divide by, or that a loop does not change.
#pragma once

#include "passes/manager/pass.h"

namespace ptxopt::division {

// Whether anything changed. Control flow does not.
bool replaceByReciprocals(Function& f, PassContext& context);

}  // namespace ptxopt::division
