// The parts of operationOf.
#pragma once

#include "timing/operation.h"

namespace ptxopt::timing {

// The encoding without its highest bit, which stands for a uniform register.
constexpr uint32_t kEncodingWithoutUniform = 0xfff;

// Sets space, bytes, reads, writes and isUniform of `operation`, whose kind is set.
void setMemory(Operation& operation, sass::Word word, const sass::Instruction& i, const target::Target& target);

// Sets kind and repeats of a matrix product.
void setMatrix(Operation& operation, sass::Word word, const sass::Instruction& i, const target::Target& target);

}  // namespace ptxopt::timing
