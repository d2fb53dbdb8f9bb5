// What loop strength reduction works on: the addresses of a loop that move in even steps, grouped, and the
// induction variables that there are.
//
// A use is a memory operand whose address is a recurrence of the loop (scalar_evolution.h). Uses of one space whose
// addresses differ by a constant form a group: one register and immediates serve them all. An induction variable is
// a register whose value at the header is a recurrence.
// Cost: linear in the operands of the loop's own blocks; groups are found by hashing.
#pragma once

#include <span>
#include <vector>

#include "passes/pass.h"

namespace ptxopt {

enum class MemorySpace : uint8_t { Generic, Global, Shared, Local, Constant, Other };
std::string_view name(MemorySpace space);
// By the modifiers of the opcode: ld.global, st.shared::cta, atom.add, ...
MemorySpace memorySpace(std::string_view opcode);

struct AddressUse {
  InstrId instruction;
  uint32_t operand = 0;   // of the register, in Function::operands
  ExprId address;         // of the register: what the immediate is added to
  int64_t immediate = 0;  // bytes
};

struct UseGroup {
  MemorySpace space = MemorySpace::Generic;
  uint8_t width = 64;  // of addresses
  ExprId start;        // without its constant part
  ExprId step;
  std::vector<AddressUse> uses;
  int64_t least = 0, most = 0;  // what is added to start and rounds: constant parts and immediates
};

struct InductionVariable {
  RegId reg;
  ValueId phi;
  ExprId expr;  // at the header
};

struct LoopUses {
  std::vector<UseGroup> groups;        // in the order of their first uses
  std::vector<InductionVariable> ivs;  // by register
  uint32_t otherAddresses = 0;         // that are no recurrences, and do vary
};

// The operand behind a register inside [ ]: the immediate, if there is one.
struct AddressOperand {
  uint32_t reg = 0;        // in Function::operands
  uint32_t immediate = 0;  // the entry of the immediate; 0: there is none
  int64_t bytes = 0;
};
// The memory operands of an instruction that are a register, perhaps with an immediate: nothing else inside [ ].
std::vector<AddressOperand> addressOperands(const Module& module, const Function& f, const Instruction& i);

// `phis`: the registers that have a phi value at the loop's header.
LoopUses collectUses(const Function& f, PassContext& context, LoopId loop, std::span<const InductionVariable> phis);

// By block: the phi values that begin there.
std::vector<std::vector<InductionVariable>> findPhis(const Cfg& cfg, const SlotIndexes& slots,
                                                     const LiveIntervals& intervals);

}  // namespace ptxopt
