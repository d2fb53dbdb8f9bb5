// Registers that hold what a parameter holds.
#pragma once

#include <functional>

#include "ir/module.h"

namespace ptxopt {

// Whether the register is the value of a 64-bit parameter, through a few copies and cvta of the global space. `definition`: the only
// instruction that writes a register and is executed, or none.
bool isParameterValue(const Module& module, const Function& f, RegId reg,
                      const std::function<InstrId(RegId)>& definition);

}  // namespace ptxopt
