// What loop strength reduction works on: the addresses of a loop that move in even steps, grouped, and the
// induction variables that there are.
//
// A use is a memory operand (address_operands.h) whose address is a recurrence of the loop (scalar_evolution.h).
// Uses of one space whose addresses differ by a constant form a group: one register and immediates serve them all.
// An induction variable is a register whose value at the header is a recurrence. Cost: linear in the operands of
// the loop's own blocks; groups are found by hashing.
#pragma once

#include <span>
#include <vector>

#include "passes/addressing/address_operands.h"
#include "passes/manager/pass.h"

namespace ptxopt {

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
  int64_t least = 0, most = 0;  // what is added to start and iterations: constant parts and immediates
};

struct InductionVariable {
  RegId reg;
  ValueId phi;
  ExprId expr;  // at the header
};

struct LoopUses {
  std::vector<UseGroup> groups;        // in the order of their first uses
  std::vector<InductionVariable> ivs;  // by register
  uint32_t otherAddresses = 0;         // that are not recurrences, and do vary
};

// `phis`: the registers that have a phi value at the loop's header.
LoopUses collectUses(const Function& f, PassContext& context, LoopId loop, std::span<const InductionVariable> phis);

// By block: the phi values that begin there.
std::vector<std::vector<InductionVariable>> findPhis(const Cfg& cfg, const SlotIndexes& slots,
                                                     const LiveIntervals& intervals);

}  // namespace ptxopt
