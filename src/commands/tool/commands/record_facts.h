// What held in recorded launches, as facts (docs/facts.md).
#pragma once

#include <string>
#include <vector>

#include "record/archive.h"

namespace ptxopt::tool {

// The text of a file of facts on the kernels of the launches that are `wanted`: sizes of blocks and grids, and parameters that
// are integers and no addresses of recorded memory; of those that are addresses how they are aligned. Throws
// record::RecordError.
std::string factsOfLaunches(const record::Archive& archive, const std::vector<bool>& wanted);

}  // namespace ptxopt::tool
