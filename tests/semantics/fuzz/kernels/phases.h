// Barriers.
#pragma once

#include "body.h"

namespace kernels {

// All threads of the block meet; only where body.uniform holds.
void emitBarrier(Body& body);

}  // namespace kernels
