// Registers that hold a number without ptxas knowing it.
//
// Up to sm_89, where the function reads %ctaid.x or %tid.x, which are below two to the 31: bit 31 of that, plus the
// number, for which ptxas makes one instruction (LEA.HI). Else the smaller of 1 and the number of blocks of the grid: a
// grid has a block, wherever it runs. ptxas 12.0 to 13.5 fold neither.
#pragma once

#include <functional>

#include "passes/manager/pass.h"

namespace ptxopt {

// What the number may be made of: of %tid.x ptxas takes it to differ between threads, and a counter or test with it, too.
enum class Opaque : uint8_t { Uniform, Any };

// Made at the entry of the function; `after` is what stands next. Not where a scope declares a special register anew
// (Function::hidesSpecialRegisters).
RegId makeOpaque(Function& f, const PassContext& context, int32_t number, NameHint hint, Opaque kind,
                 InstrId& after);

// Whether a register holds 1 that was made so. `definition`: the only instruction that writes a register, or none.
bool isOpaqueOne(const Module& module, const Function& f, RegId reg,
                 const std::function<InstrId(RegId)>& definition);

inline RegId makeOne(Function& f, const PassContext& context, InstrId& after) {
  return makeOpaque(f, context, 1, NameHint::One, Opaque::Uniform, after);
}

}  // namespace ptxopt
