// The parts of a call: results, callee, arguments. Cost: constant.
#pragma once

#include <span>

#include "ir/module.h"

namespace ptxopt {

struct DirectCall {
  const Function* callee = nullptr;  // the latest declaration of the function; nullptr: called through a pointer
  uint32_t index = 0;                // ... in Module::functions
  std::size_t calleeOperand = 0;     // its entry, in the instruction's operands
  std::span<const Operand> results, arguments;  // one entry each, as far as they are registers, variables, numbers

  DirectCall(const Module& module, const Function& f, const Instruction& i) {
    const auto operands = f.operandsOf(i);
    std::size_t at = i.is(Instruction::Guarded) ? 1 : 0;
    if (at < operands.size() && operands[at].kind == OperandKind::Paren) {
      results = operands.subspan(at + 1, operands[at].inside());
      at += 1 + operands[at].inside();
    }
    calleeOperand = at;
    if (at < operands.size() && operands[at].kind == OperandKind::Symbol &&
        module.symbols[operands[at].payload].kind == SymbolKind::Function) {
      index = module.symbols[operands[at].payload].index;
      callee = &module.functions[index];
    }
    if (at + 1 < operands.size() && operands[at + 1].kind == OperandKind::Paren)
      arguments = operands.subspan(at + 2, operands[at + 1].inside());
  }
};

}  // namespace ptxopt
