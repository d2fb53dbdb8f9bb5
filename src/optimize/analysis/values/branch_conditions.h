// The comparisons of integers that must have held for control to be in a block.
//
// Take a block whose only entry, back edges aside, is an edge from a guarded branch with two different targets, or
// from a guarded exit, ret or the like. The block, and all that it dominates, run only after the guard had one known
// value. What that says of integers is found by going back through what computed the guard: setp with its second
// result and its .and and .or, and.pred, or.pred, not.pred, mov.pred. A disjunction (an `or` that is true) says
// nothing. Operands are whole registers of the comparison's width, float registers of .b32 and .b64
// comparisons among them, and literals, with as many bits as the comparison has; not `r + 1`, `10 + 4`, or
// `v.x`. They are values, not registers: a register that is written anew after the branch holds another value. A guard
// that is a phi or was written under a guard itself is not used. At a block where a condition holds, the values it
// names are those that the comparison read: each definition dominates the comparison, and that dominates the block.
// Cost: linear in the blocks; what a guard says is read once, up to kMostOfGuard comparisons.
#pragma once

#include <optional>
#include <vector>

#include "analysis/dataflow/dominators.h"
#include "analysis/dataflow/live_intervals.h"

namespace ptxopt {

enum class Relation : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };
// "==", "<=" and so on.
std::string_view name(Relation r);
Relation negated(Relation r);
// For the operands in the other order.
Relation swapped(Relation r);
// For a comparison of integers; comparisons of floating-point numbers that may be unordered have none.
std::optional<Relation> relationOf(ComparisonOperator c);

// A register's value, or a constant.
struct ConditionOperand {
  RegId reg;
  ValueId value;
  uint64_t constant = 0;  // of the comparison's width; when `reg` is none
  bool isConstant() const { return !reg.valid(); }
  friend bool operator==(const ConditionOperand&, const ConditionOperand&) = default;
};

// `left relation right` holds; that the comparison came out false is worked into the relation.
struct BranchCondition {
  InstrId compare;  // the setp
  BlockId block;    // from here on, and in all blocks that it dominates
  Relation relation = Relation::Equal;
  bool isSigned = false;
  bool truth = true;  // how the comparison came out
  unsigned width = 0;
  ConditionOperand left, right;
};

class BranchConditions {
 public:
  // All must live as long as this and stay as they are.
  BranchConditions(const Module& module, const Function& function, const Cfg& cfg, const DominatorTree& dominators,
                   const SlotIndexes& slots, const LiveIntervals& intervals);

  // f(condition) for those that hold where `b` begins, innermost first, until it says false. At most `mostEdges`
  // branches are looked at.
  template <typename F>
  void forEach(BlockId b, std::size_t mostEdges, F&& f) {
    for (BlockId at = nearest(b); at.valid() && mostEdges > 0; at = above(at), --mostEdges) {
      const Entry e = entryOf(at);
      for (uint32_t i = e.first; i < e.first + e.count; ++i)
        if (!f(BranchCondition(conditions_[i]))) return;  // a copy: `f` may ask as well
    }
  }
  // The innermost block at or above `b` that is entered under a guard only; none when there is none.
  BlockId nearest(BlockId b) const { return nearest_[b.value]; }

 private:
  static constexpr std::size_t kMostOfGuard = 16;

  // How a block is entered.
  struct Entry {
    RegId guard;  // none: not under a guard
    ValueId value;
    bool truth = false;
    bool isRead = false;
    uint32_t first = 0, count = 0;  // in conditions_
  };
  // A predicate's value, and what it was.
  struct Fact {
    RegId reg;
    ValueId value;
    bool truth;
  };

  Entry findEntry(BlockId b) const;
  BlockId above(BlockId b) const;
  const Entry& entryOf(BlockId b);
  void read(const Fact& fact, BlockId b);
  void readCompare(const Instruction& i, InstrId id, const Fact& fact, BlockId b);
  void also(const Operand* o, InstrId id, bool truth);
  bool readOperand(const Operand* o, InstrId id, unsigned width, ConditionOperand& operand) const;

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  const DominatorTree& dominators_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  std::vector<BlockId> nearest_;  // by block
  std::vector<Entry> entries_;    // by block
  std::vector<BranchCondition> conditions_;
  std::vector<Fact> work_;
};

}  // namespace ptxopt
