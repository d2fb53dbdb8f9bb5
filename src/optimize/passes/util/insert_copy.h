// Copies that passes insert.
#pragma once

#include <optional>

#include "ir/module.h"

namespace ptxopt {

// `mov` of bits or predicates, before `place`. It takes single registers of 16, 32 and 64 bits, and predicates. `guard`:
// the first operand of a guarded instruction, if the copy is to be guarded like it.
void insertCopy(const Module& module, Function& f, RegId to, RegId from, InstrId place,
                const std::optional<Operand>& guard = {});

}  // namespace ptxopt
