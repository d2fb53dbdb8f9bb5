// What analyses and passes ask of an opcode.
#pragma once

#include "ir/opcodes.h"

namespace ptxopt {

// Parameters of any kind: of the kernel or function itself, and of the calls that it makes.
inline bool isParameterLoad(const OpcodeForm& form) { return form.op == Op::Ld && isParameter(form.space); }
inline bool isParameterStore(const OpcodeForm& form) { return form.op == Op::St && isParameter(form.space); }
inline bool isConstantLoad(const OpcodeForm& form) { return form.op == Op::Ld && form.space == StateSpace::Const; }
// Global addresses are generic addresses: either conversion is a copy.
inline bool isGlobalConversion(const OpcodeForm& form) {
  return form.op == Op::Cvta && form.space == StateSpace::Global;
}
// Of memory that is global or may be.
inline bool isGlobalOrGeneric(StateSpace s) { return s == StateSpace::None || s == StateSpace::Global; }

}  // namespace ptxopt
