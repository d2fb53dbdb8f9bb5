// What the integers in registers may be, value by value.
//
// A value is a register together with a number of its live range: registers are written many times, values once.
// What is known of a value comes from what computes it: constants, special registers and the sizes that the kernel
// states (.reqntid for each dimension, .maxntid for the product), what the user says of launches (Module::facts: sizes,
// and parameters that are loaded as a whole), narrow loads and conversions, masks, shifts, fields, arithmetic that does
// not wrap. A definition under a guard may also leave the value that was there before; a phi is one of its incoming
// values. What comes around a loop (over an edge against reverse post-order) is known only by the instruction that
// computes it, as if nothing were known of its sources: this analysis does not follow counters. So each result depends
// only on values further up, and not on earlier questions.
// In a block, more is known from the branches that lead to it: see branch_conditions.h. They say something of the
// values that they compare, of copies of these, and, a few instructions deep, of what is computed from them.
// Values that are not an integer of 8 to 64 bits in a plain register have width 0: those of predicates, of vector
// registers with their lanes, and of 128 bits. Float registers count as their bits, which a mov carries to an
// integer register. Operands are whole registers and literals, with as many bits as the operand has; `r + 1`,
// `10 + 4`, and `v.x` are full. So are values that nobody wrote, parameters of functions, and results of calls and
// loads. Contradictory conditions, in code that never runs, are left out: no result is an empty range.
// Algorithm: on demand, with a work list and a note of each result. Cost: constant for each value on average, but
// for the operands of phis; `at`: the branches above a block, up to kMostEdges, for each of up to kMostAsked
// values that some branch concerns. Memory: 24 bytes a value, 8 more once `at` was asked, and 64 for each with
// something known. Declines: types of 8 bits other
// than loads and conversions, packed halves, carry in, .sat, prmt, lop3, bfi, shf.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/values/branch_conditions.h"
#include "analysis/values/integer_range.h"
#include "analysis/values/range_operation.h"
#include "analysis/values/value_numbers.h"

namespace ptxopt {

// What the last step to a range was.
enum class RangeReason : uint8_t {
  None,             // it is full
  Constant,         // a mov of a number
  SpecialRegister,  // %tid and its like
  Narrow,           // a load or a conversion of fewer bits
  Fact,             // a parameter that the user says something about
  Mask,             // and, bfe, rem, shr, popc and the like: whatever the source
  Arithmetic,       // computed from others with something known
  Join,             // a phi, a selp, a definition under a guard
  Branch,           // a comparison that leads to the block
};
// "special register"
std::string_view name(RangeReason reason);

// A range and why it holds.
struct KnownRange {
  IntegerRange range;
  RangeReason reason = RangeReason::None;
  InstrId where;  // the instruction that computes or compares; none for a phi
  friend bool operator==(const KnownRange&, const KnownRange&) = default;
};

class ValueRanges {
 public:
  // All must live as long as this, and stay as they are. `cfg` is complete().
  ValueRanges(const Module& module, const Function& function, const Cfg& cfg, const DominatorTree& dominators,
              const SlotIndexes& slots, const LiveIntervals& intervals);

  // Wherever the value exists. Has the register's width.
  IntegerRange of(RegId r, ValueId v) { return explain(r, v).range; }
  KnownRange explain(RegId r, ValueId v);
  // Where the block begins and in all of it, for a value whose definition dominates the block or stands in it.
  IntegerRange at(RegId r, ValueId v, BlockId b) { return explainAt(r, v, b).range; }
  KnownRange explainAt(RegId r, ValueId v, BlockId b);
  // The comparisons that must have held for control to be in the block, innermost first. At most `most`.
  std::vector<BranchCondition> conditionsAt(BlockId b, std::size_t most = 32);
  // The range of a condition's operand in a block.
  IntegerRange at(const ConditionOperand& operand, unsigned width, BlockId b);

  // The value that an instruction reads in a register; none where it is not live.
  ValueId valueRead(RegId r, InstrId id) const { return intervals_[r].valueIn(slots_[id]); }
  // The instruction that makes the value, all of it; none for phis, entry values and definitions under a guard or
  // in part.
  InstrId definition(RegId r, ValueId v) const;
  // The one that makes what instruction `id` reads in the register; none where it is not live, too.
  InstrId definitionRead(RegId r, InstrId id) const {
    const ValueId v = valueRead(r, id);
    return v.valid() ? definition(r, v) : InstrId();
  }
  const ValueNumbers& numbers() const { return numbers_; }

  // Whether each result that was given is what an analysis made anew gives.
  bool answersHold() const;

 private:
  static constexpr uint32_t kUnasked = 0;
  static constexpr std::size_t kMostEdges = 64, kMostAsked = 16;
  static constexpr unsigned kMostDepth = 4, kMostCopies = 16;

  struct Value {
    RegId reg;
    ValueId value;
    friend bool operator==(const Value&, const Value&) = default;
  };
  struct Step {
    Value value;
    std::size_t next;  // what it needs that was not looked at yet
  };
  // A condition of the block that is asked about, and what its operands are copies of.
  struct Held {
    BranchCondition condition;
    Value left, right;
  };
  // One `v relation other` of a value.
  struct Constraint {
    Relation relation;
    bool isSigned;
    IntegerRange other;
    InstrId where;
  };

  // Operands of an instruction that computes what this analysis understands.
  struct Definition {
    InstrId id;
    const Instruction* instruction = nullptr;
    const RangeOperation* operation = nullptr;  // nullptr: nothing is known of what it makes
    bool isGuarded = false;
  };

  // Where the ranges of an instruction's sources come from.
  struct Sources {
    enum class From : uint8_t {
      Notes,    // what was found already
      Nothing,  // nowhere: they are full
      Block,    // explainHere
    } from;
    unsigned depth = 0;
    std::size_t* asked = nullptr;
  };

  unsigned widthOf(RegId r) const;
  std::size_t index(const Value& v) const { return numbers_(v.reg, v.value); }
  const RangeOperation& operationOf(OpcodeId opcode);
  Definition definitionOf(const Value& v);
  bool isUnderstood(const Value& v, const Instruction& i);
  // The next value that `v` needs and that was not asked yet, from `next` on.
  std::optional<Value> nextNeeded(const Value& v, std::size_t& next);
  bool comesAround(BlockId from, BlockId to) const { return order_[from.value] >= order_[to.value]; }

  void settle(const Value& v);
  KnownRange compute(const Value& v);
  KnownRange computePhi(const Value& v, BlockId b);
  KnownRange computeInstruction(const Value& v, const Definition& d, const Sources& from);
  IntegerRange operandRange(const Operand* o, unsigned width, bool mayBeWider, InstrId id, const Sources& from);
  IntegerRange sourceRange(const Value& v, const Sources& from);
  IntegerRange specialRange(std::string_view name) const;
  IntegerRange parameterRange(const Instruction& load) const;
  KnownRange alone(const Value& v);
  KnownRange noted(const Value& v) const;
  void note(const Value& v, const KnownRange& known);

  Value original(Value v);
  void hold(BlockId nearest);
  KnownRange explainHere(const Value& v, unsigned depth, std::size_t& asked);
  bool mayNarrow(const Value& v, unsigned depth);
  static IntegerRange constrained(const IntegerRange& range, const Constraint& c);
  void findLimits();

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  const DominatorTree& dominators_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  BranchConditions conditions_;
  std::vector<uint32_t> order_;  // of blocks in reverse post-order
  const ValueNumbers numbers_;
  // By value: kUnasked; 1: being asked; 2: full; n + 3: known_[n].
  std::vector<uint32_t> notes_;
  std::vector<KnownRange> known_;
  std::vector<std::optional<Value>> originals_;  // by value, the one that it copies or itself
  // By value: the instruction that defines it, and whether it is known and understood.
  struct NotedDefinition {
    InstrId id;
    bool isKnown = false, isUnderstood = false;
  };
  std::vector<NotedDefinition> definitions_;
  std::vector<Step> work_;
  std::vector<RangeOperation> operations_;             // by OpcodeId
  std::vector<bool> isRead_;                           // by OpcodeId: operations_ has it
  std::unordered_map<uint64_t, KnownRange> inBlocks_;  // by value and block
  std::vector<Held> held_;
  BlockId heldAt_;  // the block whose conditions these are
  // By value, of the conditions that are held, by their number: whether one compares it, or a value that it is made of.
  struct Narrowed {
    uint32_t held = 0;
    uint8_t notUpTo = 0;  // that many instructions up none does; 0: not known
    uint8_t from = 0;     // that many up one does; 0: not known
    bool isCompared = false;
  };
  std::vector<Narrowed> narrowed_;
  uint32_t heldNumber_ = 0;
  IntegerRange ntid_[3], tid_[3], nctaid_[3], ctaid_[3];
};

}  // namespace ptxopt
