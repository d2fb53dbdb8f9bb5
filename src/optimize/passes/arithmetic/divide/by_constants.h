// Divisions one by one: by constants, of narrow numbers, of pairs with one divisor; floats by powers of two.
#pragma once

#include "passes/manager/pass.h"

namespace ptxopt::division {

// Whether anything changed. Control flow does not.
bool replaceSingle(Function& f, PassContext& context);

}  // namespace ptxopt::division
