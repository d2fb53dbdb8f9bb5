// The guard's figures where no ptxas is asked.
#pragma once

#include <string_view>

#include "ptxas/measures.h"

namespace ptxopt {

// Registers as estimated (register_estimate.h, the plain one) and the resident warps that they give, of each
// kernel; empty when the text is not PTX.
Measures estimateMeasures(std::string_view text, std::string_view architecture);

}  // namespace ptxopt
