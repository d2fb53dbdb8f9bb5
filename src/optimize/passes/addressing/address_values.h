// The values that addresses are made of: for each value of an integer register of 32 or 64 bits the instruction
// that makes it and the places that read it, with those apart that are an address `[reg]` or `[reg+imm]`.
//
// What an address is, address_operands.h says; those of constant memory and of parameters are left out. Uses can be
// moved from one value to another and instructions can be taken away, so that what is dead, or would be, is known
// without computing anything anew. Only reachable code counts. Uses and definitions are found when they are first asked
// for, which must be before the function changes. Cost: linear in values and, for uses, in operands, times the logarithm
// of a register's segments.
#pragma once

#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "passes/addressing/address_costs.h"
#include "passes/addressing/address_operands.h"
#include "passes/manager/pass.h"

namespace ptxopt {

using ValueKey = Id<struct ValueKeyTag>;

struct ValueUse {
  InstrId at;
  uint32_t operand = 0;                      // in the instruction's operands: the register
  int32_t immediate = 0;                     // of an address
  bool isAddress = false;                    // `operand` stands in `[reg]` or `[reg+imm]`
  MemorySpace space = MemorySpace::Generic;  // of an address
  bool isPlain = false;  // a source that stands alone in an instruction that is known and not asynchronous
};

class AddressValues {
 public:
  AddressValues(const Function& f, PassContext& context);

  // Whether a machine instruction can add it to an address.
  static bool fits(int64_t immediate) { return immediate >= -kMostImmediate - 1 && immediate <= kMostImmediate; }

  std::size_t size() const { return values_.size(); }
  RegId reg(ValueKey k) const { return values_[k.value].reg; }
  ValueId value(ValueKey k) const { return ValueId(k.value - first_[reg(k).value]); }
  // None where the register has no value, or is of another kind.
  ValueKey key(RegId r, ValueId v) const {
    return v.valid() && first_[r.value] != UINT32_MAX ? ValueKey(first_[r.value] + v.value) : ValueKey();
  }
  ValueKey read(RegId r, InstrId at) const { return key(r, intervals_[r].valueIn(slots_[at])); }
  ValueKey written(RegId r, InstrId at) const { return key(r, intervals_[r].valueOut(slots_[at])); }
  // The instruction that makes all of it and nothing else, without a guard; none for others.
  InstrId definition(ValueKey k) const {
    const Value& v = values_[k.value];
    if (!v.isDefinitionKnown) findDefinition(k);
    return v.definition;
  }
  SlotIndex place(ValueKey k) const { return intervals_[reg(k)][value(k)].def; }
  // Whether the value never meets another of its register: each place that needs it is among its uses.
  bool isAlone(ValueKey k) const { return values_[k.value].isAlone; }
  std::span<const ValueUse> uses(ValueKey k) const {
    const Uses::Row& row = allUses().rows[k.value];
    return {row.first, row.count};
  }
  bool isAddress(ValueKey k) const;
  // Values that are or have been addresses, in the order of the registers.
  std::span<const ValueKey> addresses() const { return allUses().addresses; }

  // Whether `k` can be read by instruction `at`: its definition dominates that, and its register still holds it
  // there. `extends`: it is not live there today.
  bool reaches(ValueKey k, InstrId at, bool& extends) const;

  // ---- changes, which are noted here only ----
  void addUse(ValueKey k, const ValueUse& use);
  void clearUses(ValueKey k) { allUses().rows[k.value].count = 0; }
  // Instruction `id` reads `k` no more.
  void dropUses(ValueKey k, InstrId id);
  // Values without uses that a pure instruction made: takes away what that reads, and so on.
  void retire(ValueKey k);
  bool isRetired(InstrId id) const { return isRetired_[id.value]; }

 private:
  struct Value {
    RegId reg;
    InstrId definition;
    bool isAlone = false, isDefinitionKnown = false;
  };
  struct Uses {
    struct Row {
      uint32_t count = 0, room = 0;
      ValueUse* first = nullptr;  // in memory
    };
    std::pmr::monotonic_buffer_resource memory;
    std::vector<Row> rows;  // by value
    std::vector<ValueKey> addresses;
  };

  Uses& allUses() const {
    if (!uses_) findUses();
    return *uses_;
  }
  struct FoundUse;
  static FoundUse foundUse(uint32_t operand, std::span<const AddressOperand> addresses);
  void findDefinition(ValueKey k) const;
  void findUses() const;
  void sortUses(std::span<const FoundUse> found) const;

  const Function& f_;
  const Module& module_;
  const Cfg& cfg_;
  const DominatorTree& dominators_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  std::vector<uint32_t> first_;         // by RegId: the key of its first value; UINT32_MAX for other registers
  mutable std::vector<Value> values_;   // definitions when first asked for
  mutable std::unique_ptr<Uses> uses_;  // none: not asked for yet
  std::vector<bool> isRetired_;         // by InstrId
};

}  // namespace ptxopt
