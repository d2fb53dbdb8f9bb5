// The memory operands whose address may be computed in another way: `[reg]` and `[reg+imm]` of ld, ldu, st, atom,
// red, prefetch, prefetchu, ldmatrix and cp.async to shared memory.
//
// Declines: the bulk copies and the other asynchronous accesses, tensors, and every operand with more inside `[ ]`.
// Cost: linear in the operands.
#pragma once

#include <vector>

#include "ir/module.h"

namespace ptxopt {

enum class MemorySpace : uint8_t { Generic, Global, Shared, Local, Constant, Other };
std::string_view name(MemorySpace space);

struct AddressOperand {
  uint32_t operand = 0;   // the register, in the instruction's operands
  int64_t immediate = 0;  // bytes
  MemorySpace space = MemorySpace::Generic;
};
// The only operations that have some.
bool mayHaveAddresses(Op op);
std::vector<AddressOperand> addressOperands(const Module& module, const Function& f, const Instruction& i);
// The same into a list that is used again and again.
void addressOperands(const Module& module, const Function& f, const Instruction& i,
                     std::vector<AddressOperand>& found);

}  // namespace ptxopt
