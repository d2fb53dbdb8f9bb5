// The operands of an instruction without its guard, so that the first one is the result whether there is a guard or not.
#pragma once

#include <span>

#include "ir/function.h"

namespace ptxopt {

inline std::span<const Operand> unguarded(const Function& f, InstrId id) {
  return f.operandsOf(f[id]).subspan(f[id].is(Instruction::Guarded) ? 1 : 0);
}

}  // namespace ptxopt
