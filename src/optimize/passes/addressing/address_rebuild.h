// Addresses computed in another way, in the register and at the place where they are; the value is the same modulo
// two to the 64. The ways: wide products (address_rebuild.cpp) and neighbours (address_neighbours.cpp).
#pragma once

#include <array>
#include <vector>

#include "passes/addressing/address_edits.h"
#include "passes/addressing/address_opcodes.h"
#include "passes/addressing/address_values.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/range_register_budget.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {

class AddressRebuild {
 public:
  AddressRebuild(Function& f, PassContext& context, AddressValues& values, AddressEdits& edits,
                 RangeRegisterBudget& budget, RegisterReach& reaches, MissedRemarks& missed);

  // Whether anything changed. Values that are needed no more are retired.
  bool fromNeighbours();
  void apply();

 private:
  static constexpr std::size_t kMostNeighbours = 6;  // that an address is compared with

  // base + sign * (step << shift) + constant; `step` of 64 bits
  struct Distance {
    ExprId step;
    unsigned shift = 0;
    bool isNegative = false;
  };
  // `id` becomes something else, with a helper before it that makes its last source.
  struct Change {
    InstrId id;
    SynthOpcode opcode = SynthOpcode::AddS64;
    std::array<Operand, 3> operands{};
    bool hasHelper = false;
    SynthOpcode helper = SynthOpcode::ShlB64;
    std::array<Operand, 3> helperOperands{};
  };

  const OpcodeForm& form(InstrId id) const { return module_.form(f_[id]); }
  bool isGlobalAddress(ValueKey k) const;
  void note(Change change);

  bool rebuildFrom(ValueKey k, ValueKey base, int freed);
  void countHolders();
  bool isHeldTwice(ValueKey k) const;
  unsigned freedWith(ValueKey k) const;
  unsigned weight(InstrId id) const;
  bool readDistance(ExprId difference, Distance& d, int64_t& constant) const;
  bool isInvariantAt(ValueKey k, LoopId l) const;

  Function& f_;
  PassContext& context_;
  const Module& module_;
  const SlotIndexes& slots_;
  ScalarEvolution& evolution_;
  ScevExpressions& expressions_;
  AddressValues& values_;
  AddressEdits& edits_;
  RangeRegisterBudget& budget_;
  RegisterReach& reaches_;
  MissedRemarks& missed_;
  std::vector<bool> isMoved_;    // by ValueKey: holds another value than its expression says
  std::vector<bool> isChanged_;  // by InstrId
  std::vector<Change> changes_;
  std::vector<uint32_t> holders_;  // by ExprId: values
};

}  // namespace ptxopt
