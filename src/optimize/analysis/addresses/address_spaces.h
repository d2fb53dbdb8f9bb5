// In which state space the addresses lie that 64-bit registers hold, value by value (live_range.h).
//
// What:       Generic addresses come from cvta, the addresses of global variables, parameters of kernels (taken as
//             pointers to global memory, unless facts say otherwise) and of functions all of whose calls are known
//             (address_facts.h). So do pointers that a kernel loads from global memory as it was at its launch
//             (launch_memory.h), under the same assumption as of parameters, unless the module makes generic addresses
//             of constant variables, which may be what memory holds; others loaded from memory, packed from
//             halves or returned by atomics are unknown. mov, selp, phis, guarded definitions and adding a number
//             keep the space; where two meet it is Mixed. So do halves that are put together again after a way
//             through copies and shuffles of one block (sent_halves.h).
// A number:   what is certainly no generic address of shared, local or constant memory: constants, special
//             registers, what is extended from 32 bits or narrow, products, left shifts of less than 32. Kernel
//             parameters may be numbers as well as pointers, so what arithmetic makes of two such values is Global:
//             if anything is accessed through it, it is global memory. An address plus something unknown is
//             unknown, since that may be the pointer of the two.
// Registers:  of 64 bits, integers or bits, one by one. What comes through an .f64, a .b128, or a vector register is
//             unknown, as is `r + 4`; a narrower register holds a number. Other halves of an address that are put
//             together by a pack are unknown. So is what shifts, constant factors and doublings (x + x, x - (-x))
//             multiply by 2^32, in any number of steps or iterations of a loop. Other factors count as sizes.
// Elsewhere:  addresses of parameters (cvta.param, mov of a parameter) and of other blocks of the cluster (mapa,
//             ::cluster; with mapa in the module also what cvta.shared makes of anything but a variable's address)
//             are unknown: generic accesses stay generic.
// Null:       counts as a number that may stand for an address. Where it could be accessed the program is wrong.
// Algorithm:  the lattice of ir/address_state.h, from below, in sweeps over the blocks in reverse post-order until
//             nothing changes; each value rises a few times at most. Nothing is known of a function that needs more
//             than kMostSweeps.
// Invariants: only reachable code counts. A value that nobody wrote is None.
// Cost:       linear in operands for each sweep; there are as many as loops are deep, and two. Where a loop doubles a
//             number that stays one there may be 32 more.
#pragma once

#include <optional>
#include <vector>

#include "analysis/addresses/address_arithmetic.h"
#include "analysis/addresses/address_facts.h"
#include "analysis/addresses/launch_memory.h"
#include "analysis/dataflow/dominators.h"
#include "analysis/values/plain_operands.h"
#include "analysis/values/value_flow.h"

namespace ptxopt {

class AddressSpaces : ValueFlow<AddressSpaces, AddressState> {
 public:
  // All must live as long as this, and stay as they are. What is known of parameters and of results of calls is
  // what `facts` says; nothing without it. `memoryIsGlobal`: pointers that memory held when a kernel was launched are
  // taken as its parameters are.
  AddressSpaces(const Module& module, const Function& function, const Cfg& cfg, const SlotIndexes& slots,
                const LiveIntervals& intervals, const ModuleAddressFacts* facts, bool memoryIsGlobal = false);

  // Unknown for registers that are not of 64 integer bits.
  AddressState of(RegId r, ValueId v) const { return at(r, v); }
  // What instruction `id` reads in `r`, and what is in `r` after it.
  AddressState read(RegId r, InstrId id) const { return stateRead(r, id); }
  AddressState written(RegId r, InstrId id) const { return stateWritten(r, id); }
  // What a source operand that consists of one entry is; Unknown for a group.
  AddressState source(const Operand& o, InstrId id) const;
  // The space of the memory that a generic access `id` is of, by the address `[reg]` or `[reg+imm]`; Unknown for
  // other forms.
  AddressKind accessed(InstrId id) const;
  // Values have numbers, for tables of them.
  std::size_t size() const { return states_.size(); }
  std::size_t index(RegId r, ValueId v) const { return numbers_(r, v); }
  // Whether registers like `r` hold addresses: of 64 bits, no float, no vector.
  bool holdsAddresses(RegId r) const { return isFollowed(r); }
  // What the st.param into a variable put there, together: the argument of a call, or the function's result.
  AddressState stored(VariableId v) const { return stored_[v.value]; }
  // Whether it would be another one if it were made anew.
  bool differs() const;

 private:
  static constexpr unsigned kMostSweeps = 100;
  static constexpr unsigned kHalf = 32;  // bits of half an address
  static constexpr std::size_t kMostWalked = 24;

  void collectParameters();
  friend ValueFlow;
  static AddressState join(AddressState a, AddressState b) { return ptxopt::join(a, b); }
  static AddressState unknown() { return kUnknownAddress; }
  AddressState entering(const FlowValue& v, BlockId b, bool isRoot) const;
  AddressState fromEdge(RegId r, ValueId v) const { return v.valid() ? at(r, v) : AddressState(); }
  AddressState made(InstrId id, const Operand& to, uint32_t number);
  bool visitPhi(const FlowValue& v, BlockId b);
  bool visit(InstrId id);
  AddressOperation operationOf(OpcodeId opcode);
  AddressState result(InstrId id, const Operand& to);
  unsigned shiftBy(InstrId id) const;
  bool raiseShift(std::size_t value, unsigned shift);
  std::vector<std::size_t> sourcesOf(InstrId id, const Operand& o) const;
  bool mayDouble(InstrId id, const Operand& a, const Operand& b) const;
  AddressState loaded(InstrId id) const;
  AddressState fromLaunch(InstrId id, const Operand& base) const;
  bool takesMemoryAsGlobal() const;
  AddressState addressOf(const Operand& o) const;

  const ModuleAddressFacts* const facts_;
  const bool memoryIsGlobal_;
  // By value, of numbers: by how many bits shifts, factors and doublings have moved what it was made of to the left, at
  // most. With 32 it may be the upper half of an address in its place.
  std::vector<uint8_t> shifts_;
  std::vector<AddressState> parameters_;  // by VariableId: what a load of it gives
  std::vector<AddressState> stored_;      // by VariableId
  std::vector<VariableId> filled_;        // own parameters and results of calls
  std::optional<LaunchMemory> launch_;    // of kernels that load addresses
  std::vector<uint8_t> operations_;       // by OpcodeId: the operation and one; 0: not read yet
};

}  // namespace ptxopt
