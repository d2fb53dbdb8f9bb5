// What the registers of a function hold, as expressions of constants, of values that come from elsewhere, and of
// the iterations of the loops around.
//
// Registers of PTX are written many times, so what is looked at are values: a register with one of the value
// numbers of its live range. The expression of a value holds where the value begins. A value that phi-begins at the
// header of a natural loop is a recurrence when all ways into the loop bring the same start and all ways back the
// value itself plus something that does not vary in the loop (after Bachmann, Wang, Zima, "Chains of recurrences",
// 1994, and van Engelen, "Efficient symbolic analysis for optimizing compilers", 2001; affine ones only). What a
// guarded instruction writes may be the old value: it is a Value of its own, never a recurrence.
//
// Registers are those of integers and bits (.b8 to .b64, .u8 to .s64), one by one: a float register, an .f16x2, a
// predicate, and a vector register with its lanes have no expression, and a value that a mov carries through one of
// these is a Value of its own after it. Operands are whole registers and literals, with
// as many bits as the instruction's operand has; of `r + 1`, `10 + 4`, `v.x`, and what is negated nothing is known.
//
// Everything is modulo two to the width. An extension of a sum or of a recurrence is taken inside only with a proof
// that nothing wraps: from the ranges of values (value_range.h) and from the exit tests of the loop. `whyNoWrap`
// names the proof.
//
// A recurrence stands for the value in the iteration that runs. After the loop the value is that of the last iteration:
// `read` answers with a plain Value where the reader is outside a loop that the expression counts.
//
// Trip counts are counts of backedges taken: a loop whose body runs once has 0. They come from tests that every
// iteration runs: of a recurrence with what does not vary, by <, <=, >, >=, signed or unsigned, and by != where the
// step is 1 or -1 or divides the distance. `most` is the least bound of all such tests; `exact` is known where
// there is a single way out. `unknown` says why not.
//
// Cost: each value once, linear in its operands; phis of nested loops once for each loop around. Expressions beyond
// kMostSize nodes and chains beyond kMostDepth definitions become plain Values.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "analysis/values/scev_expressions.h"
#include "analysis/values/value_range.h"
#include "ir/module.h"

namespace ptxopt {

struct NoWrapProof {
  enum class Kind : uint8_t { ExitTest, TripCount, Range };
  Kind kind = Kind::Range;
  InstrId where;  // the test; none for ranges
};
std::string_view name(NoWrapProof::Kind kind);

struct TripCount {
  ExprId exact;                  // backedges taken; none: unknown
  std::optional<uint64_t> most;  // a bound of the backedges taken
  InstrId test;                  // the comparison that gives `exact`, or else `most`
  std::string_view unknown;      // why there is no exact one; empty when there is
};

// A test that each iteration of a loop runs, read as: the loop goes on only while `tested` comparison `limit`.
struct ExitTest {
  LoopId loop;
  BlockId block;
  InstrId test, branch;
  Relation comparison = Relation::NotEqual;
  bool isSigned = false;
  ExprId tested;            // a recurrence of the loop
  ExprId limit;             // does not vary in the loop
  bool trueGoesOn = false;  // the loop goes on where the comparison as written is true
  bool swapped = false;     // the limit is the first source of the instruction
};

class ScalarEvolution {
 public:
  ScalarEvolution(const Module& module, const Function& function, const Cfg& cfg, const DominatorTree& dominators,
                  const Loops& loops, const SlotIndexes& slots, const LiveIntervals& intervals,
                  ValueRanges& ranges);

  ScevExpressions& expressions() { return e_; }

  // The expression of a value, where it begins. None for what is not an integer of 8 to 64 bits.
  ExprId of(RegId reg, ValueId value) {
    if (!value.valid()) return {};
    const ExprId known = memo_[keyOf(reg, value)];
    return known.valid() ? known : settle(reg, value);
  }
  // What an instruction finds in a register, and what it leaves there.
  ExprId read(RegId reg, InstrId at);
  ExprId written(RegId reg, InstrId at);
  // A value as a block sees it: a plain Value where the expression counts a loop that the block is not in.
  ExprId seenFrom(RegId reg, ValueId value, BlockId block);
  // The value that a register has at the end of a block.
  ValueId valueAtEnd(RegId reg, BlockId block) const;

  const TripCount& tripCount(LoopId l) const { return trips_[l.value]; }
  std::span<const ExitTest> exitTests(LoopId l) const { return tests_[l.value]; }

  // What an expression may be, in any iteration.
  IntegerRange range(ExprId e);
  // Whether a recurrence never passes the end of its signed or unsigned numbers from an iteration to the next that
  // runs.
  std::optional<NoWrapProof> whyNoWrap(ExprId recurrence, bool isSigned);
  // Extensions that go inside where it is proved that they may.
  ExprId signExtend(ExprId a, unsigned width);
  ExprId zeroExtend(ExprId a, unsigned width);

  // Whether each expression and trip count that was given is what an analysis made anew gives.
  bool answersHold() const;

  // How the loop's registers can be named in text: by `spell` for a Value.
  template <typename Spell>
  std::string toString(ExprId e, Spell&& spell) const;

  // Where a plain Value can be computed anew at any place: an instruction that reads nothing but constants of the
  // launch. None for others.
  InstrId constantDefinition(RegId reg, ValueId value) const;

 private:
  friend class ScevInstructions;
  static constexpr uint16_t kMostSize = 96;
  static constexpr unsigned kMostDepth = 400;
  static constexpr std::size_t kSmallLoop = 256, kMostWork = 1u << 16, kMostDepthOfLoops = 16;  // blocks

  uint32_t keyOf(RegId reg, ValueId value) const { return ranges_.numbers()(reg, value); }
  unsigned widthOf(RegId reg) const;
  ExprId settle(RegId reg, ValueId value);
  ExprId plain(RegId reg, ValueId value);
  ExprId compute(RegId reg, ValueId value);
  ExprId phi(RegId reg, ValueId value, BlockId block);
  bool countsOther(ExprId e, BlockId block) const;
  bool hasOtherCounter(ExprId e, BlockId block) const;
  void findTests(LoopId l);
  void countTrips(LoopId l);
  TripCount countByTest(const ExitTest& t);
  bool isKnownOrdered(ExprId start, ExprId limit, bool goesUp, bool isSigned, BlockId header);
  void forgetRanges();
  IntegerRange rangeAt(ExprId e, BlockId block);
  bool sumFits(ExprId sum, bool isSigned);
  ExprId extendInside(ExprId a, unsigned width, bool isSigned);
  IntegerRange rangeOfRecurrence(ExprId e);
  IntegerRange startRange(ExprId recurrence);
  std::optional<NoWrapProof> boundedByTest(ExprId e, bool isSigned, IntegerRange& range);

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  const DominatorTree& dominators_;
  const Loops& loops_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  ValueRanges& ranges_;
  ScevExpressions e_;
  std::vector<ExprId> memo_;                          // by key, the number of a value
  std::vector<uint32_t> made_;                        // keys in the order in which they were settled
  std::unordered_map<uint64_t, uint32_t> constants_;  // what is read -> the key of the first value that holds it
  std::vector<InstrId> constantDefinitions_;          // by key
  std::vector<TripCount> trips_;                      // by LoopId
  std::vector<std::vector<ExitTest>> tests_;
  std::vector<std::pair<ExprId, IntegerRange>> knownRanges_;
  std::vector<uint32_t> rangeOf_;  // by ExprId: its place in knownRanges_ and one; 0: not known
  // What countsOther found last of an expression.
  struct OtherCounters {
    LoopId loop;
    bool isKnown = false, hasSome = false;
  };
  mutable std::vector<OtherCounters> otherCounters_;  // by ExprId
  bool counted_ = false;
  unsigned depth_ = 0;
};

// Stable text: "{%r5,+,4}<B2>", "4*sext64(%r1) + %rd2 + 16".
template <typename Spell>
std::string ScalarEvolution::toString(ExprId e, Spell&& spell) const {
  const Expr& n = e_[e];
  const auto signedText = [&](uint64_t c) { return std::to_string(signedAt(c, n.width)); };
  const auto two = [&](std::string_view function) {
    return std::string(function) + "(" + toString(n.left(), spell) + ", " + toString(n.right(), spell) + ")";
  };
  const auto one = [&](std::string_view function) {
    return std::string(function) + std::to_string(n.width) + "(" + toString(n.operand(), spell) + ")";
  };
  switch (n.kind) {
    case ExprKind::Constant: return signedText(n.constant);
    case ExprKind::Value: return spell(n.reg(), n.value());
    case ExprKind::Sum: {
      std::string out;
      for (const ExprTerm& t : e_.terms(e)) {
        const std::string factor = signedText(t.factor);
        if (!out.empty()) out += " + ";
        if (factor != "1") out += factor + "*";
        out += toString(t.expr, spell);
      }
      return n.constant == 0 ? out : out + " + " + signedText(n.constant);
    }
    case ExprKind::Product: {
      std::string out;
      for (const ExprTerm& t : e_.terms(e)) {
        const bool isSum = e_[t.expr].kind == ExprKind::Sum;
        if (!out.empty()) out += "*";
        out += isSum ? "(" + toString(t.expr, spell) + ")" : toString(t.expr, spell);
      }
      return out;
    }
    case ExprKind::SignExtend: return one("sext");
    case ExprKind::ZeroExtend: return one("zext");
    case ExprKind::Truncate: return one("trunc");
    case ExprKind::UnsignedMin: return two("umin");
    case ExprKind::UnsignedMax: return two("umax");
    case ExprKind::SignedMin: return two("smin");
    case ExprKind::SignedMax: return two("smax");
    case ExprKind::UnsignedDivide: return two("udiv");
    case ExprKind::UnsignedRemainder: return two("urem");
    case ExprKind::Recurrence:
      return "{" + toString(n.start(), spell) + ",+," + toString(n.step(), spell) + "}<B" +
             std::to_string(loops_[n.loop].header.value) + ">";
  }
  return {};
}

}  // namespace ptxopt
