// Odd but legal names.
#pragma once

#include <string>

#include "random.h"

namespace kernels {

// The text with other names of registers, labels and device functions: other prefixes, those of another type of
// register, without one, of types and opcodes.
std::string withOddNames(Random& random, const std::string& text);

}  // namespace kernels
