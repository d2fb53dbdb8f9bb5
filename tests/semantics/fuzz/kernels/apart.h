// Statements that are drawn apart: they have random numbers, registers and names of their own, and mix what they compute into
// the checksum. So the rest of a seed's kernel is the same whether they are there or not.
#pragma once

#include "body.h"

namespace kernels {

// Pointers to constant and to global variables, loaded from a variable whose initializer has them; isspacep and cvta.to of
// these. Before the kernel writes anything.
void emitPointersFromInitializer(Body& body);

// Equal operations on equal sources, whose results go to registers of several types, before long-latency operations in a loop.
void emitEqualSourcesInLoop(Body& body);

}  // namespace kernels
