#include "passes/util/insert_copy.h"

#include <span>

namespace ptxopt {

void insertCopy(const Module& module, Function& f, RegId to, RegId from, InstrId place,
                const std::optional<Operand>& guard) {
  SynthOpcode opcode = SynthOpcode::MovB32;
  switch (f.registers[from.value].registerClass()) {
    case RegisterClass::Pred: opcode = SynthOpcode::MovPred; break;
    case RegisterClass::B16: opcode = SynthOpcode::MovB16; break;
    case RegisterClass::B64:
    case RegisterClass::F64: opcode = SynthOpcode::MovB64; break;
    default: break;
  }
  // Under a guard the register keeps what it holds where that is false.
  const Operand operands[] = {guard.value_or(Operand()), registerOperand(to, guard ? Role::Mod : Role::Def),
                              useOperand(from)};
  f.insert(place, module.synthOpcode(opcode), std::span(operands).subspan(guard ? 0 : 1));
}

}  // namespace ptxopt
