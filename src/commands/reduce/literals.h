// The simplest operands there are: 0 and 1 of each type.
#pragma once

#include <optional>

#include "reduce/edit.h"

namespace ptxopt::reduce {

enum class LiteralKind { Integer, Float32, Float64 };

LiteralKind literalKindOfClass(RegisterClass c);
// 0 or 1.
Operand literal(Edit& edit, Function& f, LiteralKind kind, int value);
// What may stand for a register that an instruction of this form reads; none where no immediate can stand.
std::optional<LiteralKind> literalFor(const OpcodeForm& form, const Register& reg);

}  // namespace ptxopt::reduce
