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
// A shuffle of lanes. Without `.sync` it is deprecated: ptxas says so, and its user should hear that.
inline bool isSyncShuffle(const OpcodeForm& form) { return form.op == Op::Shfl && form.has(ModifierFlag::Sync); }
// For memory that is global or may be.
inline bool isGlobalOrGeneric(StateSpace s) { return s == StateSpace::None || s == StateSpace::Global; }

// Divisions and roots that ptxas makes a call of: rounded as IEEE asks, of f64, of 16-bit and of 64-bit integers. It keeps
// these when they are dead, so their rows say Side, though they only compute. Compiled for sm_75, 80, 90, 100 and 120, each
// of these has a call, and no other division, root or reciprocal has one.
inline bool becomesCall(const OpcodeForm& form) {
  if (form.effects != effect::Side) return false;
  switch (form.op) {
    case Op::Div:
    case Op::Rem:
    case Op::Rcp:
    case Op::Rsqrt:
    case Op::Sqrt: return true;
    default: return false;
  }
}

// Whether it neither writes memory nor orders accesses to it. Loads do not.
inline bool hasNoMemoryEffect(const OpcodeForm& form) {
  switch (form.op) {
    // For these, effect::Side means no more than that ptxas keeps them when dead, or that their result depends on which
    // threads run.
    case Op::Div:
    case Op::Rem:
    case Op::Rcp:
    case Op::Rsqrt:
    case Op::Sqrt:
    case Op::Isspacep:
    case Op::Activemask:
    case Op::Elect:
    case Op::Prefetch:
    case Op::Prefetchu: return true;
    default: break;
  }
  constexpr uint32_t kOther = effect::Read | effect::CarryIn | effect::CarryOut | effect::Convergent |
                              effect::Branch | effect::IndirectBranch | effect::Return | effect::Exit;
  return !form.is(~kOther);
}

}  // namespace ptxopt
