// Between which numbers a value lies, over all threads and blocks of a launch and all iterations of loops.
//
// What:       for a value that an access reads, two terms (bound_terms.h), least and most. They bound a whole number that is
//             the value modulo two to its width: its signed number, its unsigned number, or any, as is asked. A bound holds
//             wherever the block that reads the value runs, in launches where the assumptions hold that were made on the way.
// Algorithm:  from the expression of scalar evolution. %tid and %ctaid lie in [0, size - 1]; parameters are exact; sums and
//             products of bounds; an extension, a minimum, a quotient take the signed or the unsigned number of their operand:
//             the bounds must lie within its width, which is assumed where ranges do not say it. A recurrence of a loop goes
//             from its start to start + iterations * step.
//             What conditions say comes before that: of branches that lead to the block, and of the test by which each
//             iteration of a loop goes on (after the first iteration it held in the one before). Where a value is k times
//             what a condition compares, and something simpler (`k*c + r`), its bounds are made of both.
//             A phi is between its incoming values, a value of a loop that ended between all that it had.
// Signs:      of a factor that may be negative it is assumed that it is not.
// Invariants: a bound may be wrong for executions that never happen: `i < n` bounds i by n - 1 where n is 0, too.
// Declines:   what is loaded, opcodes that scalar evolution does not follow, recurrences of unknown trip count. `why` has the
//             name of the first.
// Cost:       each expression anew for each question, kMostSteps at most.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/addresses/bound_terms.h"
#include "analysis/manager/analyses.h"

namespace ptxopt {

enum class NumberKind : uint8_t { Any, Signed, Unsigned };

// Either side may be none: not known.
struct ValueBound {
  TermId least, most;
  bool isKnown() const { return least.valid() && most.valid(); }
  bool isExact() const { return isKnown() && least == most; }
};

class ValueBounds {
 public:
  ValueBounds(const Module& module, const Function& kernel, Analyses& analyses, BoundTerms& terms);

  // For what block `b` reads as `e`. Assumptions are added to `assumptions`, also where there is no bound.
  ValueBound of(ExprId e, NumberKind kind, BlockId b, BoundAssumptions& assumptions);
  // Why the last value had no bound.
  std::string_view why() const { return why_; }

 private:
  static constexpr unsigned kMostSteps = 3000, kMostDepth = 60, kMostConditions = 32;

  // What a condition says of the signed or the unsigned number of an expression: it is at most, at least `limit` plus
  // `offset`. For a loop's test: in the first iteration it may have its start instead.
  struct Fact {
    ExprId expr, limit;
    int64_t offset = 0;
    bool isSigned = false, isMost = false;
    bool isTest = false;  // of a loop's test: what follows
    ExprId start, step;   // of what is tested
    unsigned width = 0;
  };
  const std::vector<Fact>& factsAt(BlockId b);
  void addCondition(const BranchCondition& c, std::vector<Fact>& facts);
  void addTest(const ExitTest& t, std::vector<Fact>& facts);
  void addFact(Fact fact, std::vector<Fact>& facts);

  ValueBound bound(ExprId e, NumberKind kind);
  bool isUniform(ExprId e, unsigned depth) const;
  ValueBound fromFacts(ExprId e, bool isSigned);
  ValueBound fromTest(const Fact& fact);
  TermId iterations(LoopId l);
  TermId iterations(const ExitTest& t);
  ValueBound structural(ExprId e);
  ValueBound matched(ExprId e);
  ValueBound ofValue(const Expr& n);
  ValueBound ofConstant(InstrId id, const Expr& n);
  ValueBound ofDefinition(RegId reg, ValueId value);
  ValueBound ofInstruction(InstrId id, unsigned width);
  ValueBound ofMask(const ValueBound& a, int64_t mask);
  ValueBound ofPhi(RegId reg, ValueId value, BlockId b);
  ValueBound ofSum(ExprId e);
  ValueBound ofProduct(ExprId e);
  ValueBound ofRecurrence(ExprId e);
  ValueBound ofTruncation(ExprId e);
  ValueBound ofMinMax(const Expr& n);
  ValueBound ofQuotient(const ValueBound& a, const ValueBound& b, bool isRemainder);
  ValueBound ofRange(RegId reg, ValueId value);

  ValueBound within(const ValueBound& any, unsigned width, NumberKind kind);
  ValueBound add(const ValueBound& a, const ValueBound& b);
  ValueBound scale(const ValueBound& a, int64_t factor);
  ValueBound multiply(ValueBound a, ValueBound b);
  ValueBound join(const ValueBound& a, const ValueBound& b);
  ValueBound exact(TermId t) const { return {t, t}; }
  ValueBound unknown(std::string_view why);
  bool isNeverNegative(TermId t) const { return assumptions_->range(t).least >= 0; }
  // `times` or, where that is 0, `factor` times what a condition compares, and the rest.
  struct Part {
    int64_t times = 0;
    ExprId factor, rest;
  };
  std::optional<Part> match(ExprId e, ExprId condition);
  std::optional<Part> matchFactor(ExprId e, ExprId condition);

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  const Loops& loops_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  ValueRanges& ranges_;
  ScalarEvolution& evolution_;
  ScevExpressions& e_;
  BoundTerms& terms_;
  std::unordered_map<uint32_t, std::vector<Fact>> facts_;  // by block
  // For the question that is being answered.
  BlockId at_;
  BoundAssumptions* assumptions_ = nullptr;
  unsigned steps_ = 0, depth_ = 0;
  std::vector<std::pair<RegId, ValueId>> open_;  // phis on the way
  // Conditions that are being looked at: of what they compare, and as a part of something.
  std::vector<ExprId> matching_, combining_;
  std::string_view why_;
};

}  // namespace ptxopt
