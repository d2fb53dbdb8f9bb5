// Kernels that begin with sections of one lane.
#pragma once

#include "body.h"

namespace kernels {

// Only where all warps are whole, the block has one dimension, and nothing has been written to global memory.
void emitSections(Body& body);

}  // namespace kernels
