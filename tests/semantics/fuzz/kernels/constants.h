// Constants as texts: expressions, and literals in another form than the operand's type.
#pragma once

#include <string>

#include "random.h"
#include "registers.h"

namespace kernels {

// An expression or an unusual literal for an operand of the class, or nothing where there is none. `ofFloats`: the
// operation is one of floats, which takes decimals and literals of the other width; others take them as bits alone.
std::string unusualConstant(Random& random, Class c, bool ofFloats);
// What may stand behind `register +`.
std::string addend(Random& random, Class c);
// An expression of integers.
std::string integerExpression(Random& random, int depth);

}  // namespace kernels
