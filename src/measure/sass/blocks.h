// Cutting code into blocks; what control_flow.h says of them.
#pragma once

#include <span>
#include <vector>

#include "sass/control_flow.h"

namespace ptxopt::sass {

std::vector<Block> blocksOf(const std::vector<Instruction>& code, std::span<const IndirectBranch> branches);

}  // namespace ptxopt::sass
