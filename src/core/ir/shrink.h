// Gives back the memory that the lists of a function have for more, as vectors that grow by doubling do.
#pragma once

#include "ir/function.h"

namespace ptxopt {

inline void shrinkToFit(Function& f) {
  f.instructions.shrink_to_fit();
  f.operands.shrink_to_fit();
  f.registers.shrink_to_fit();
  f.constants.shrink_to_fit();
  f.labels.shrink_to_fit();
  f.locs.shrink_to_fit();
}

}  // namespace ptxopt
