// A register that holds 1, of which ptxas does not know it: the smaller of 1 and the number of blocks of the grid. A grid has a
// block, wherever it runs. ptxas 12.0 to 13.5 do not fold it; of a product with it they make IMAD.
#pragma once

#include "passes/manager/pass.h"

namespace ptxopt {

// Made at the entry of the function; `after` is what stands next. Not where a scope declares a special register anew
// (Function::hidesSpecialRegisters).
RegId makeOne(Function& f, const PassContext& context, InstrId& after);

}  // namespace ptxopt
