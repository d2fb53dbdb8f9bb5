// Expressions of scalar evolution: integers of a width, modulo two to the width.
//
// An expression is a node in a table of its function; equal expressions have equal ids, so comparing is comparing
// ids. The forms, each with the width that all its arithmetic wraps at:
//   Constant       a number
//   Value          what a register holds by one of its values; nothing more is said
//   Sum            a constant and terms, each with a factor: 12 + 4*x + -1*y
//   Product        of two or more expressions that are not constant
//   SignExtend, ZeroExtend, Truncate
//   UnsignedMin, UnsignedMax, SignedMin, SignedMax
//   UnsignedDivide, UnsignedRemainder
//   Recurrence     {start, +, step} of a loop: start on entry, step more in each further iteration (chains of
//                  recurrences: Bachmann, Wang, Zima, 1994)
// Canonical form: a sum has no sum among its terms and is sorted by id; a recurrence takes up what is added to it
// and does not vary in its loop, so {a,+,b} + c is {a+c,+,b}, and the innermost loop's recurrence is outermost:
// {{0,+,n},+,1} counts in the inner loop from where the outer one has come. Beside what varies in its loop
// otherwise a recurrence has no constant part: {a,+,b} + x + c. Extensions go inside a sum or a recurrence only
// where the caller proved that nothing wraps (scalar_evolution.h).
//
// Width: 1 to 64 bits. Cost: making a node is linear in its terms, hashed; 40 bytes a node and 16 a term.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/dataflow/live_range.h"
#include "analysis/dataflow/loops.h"
#include "ir/instruction.h"

namespace ptxopt {

using ExprId = Id<struct ExprTag>;

enum class ExprKind : uint8_t {
  Constant,
  Value,
  Sum,
  Product,
  SignExtend,
  ZeroExtend,
  Truncate,
  UnsignedMin,
  UnsignedMax,
  SignedMin,
  SignedMax,
  UnsignedDivide,
  UnsignedRemainder,
  Recurrence,
};

struct Expr {
  ExprKind kind = ExprKind::Constant;
  uint8_t width = 0;
  bool varies = false;   // in some loop; then `innermost` is the deepest of them
  bool isMixed = false;  // it varies in loops that do not contain each other
  uint16_t size = 1;     // nodes, each counted where it is used; saturates
  LoopId loop;           // Recurrence
  LoopId innermost;
  // Recurrence: start, step. Value: RegId, ValueId. Extensions, divisions, minima: the operands.
  uint32_t first = 0, second = 0;
  uint64_t constant = 0;  // Constant: its bits. Sum: the constant part
  uint32_t firstTerm = 0, termCount = 0;

  RegId reg() const { return RegId(first); }
  ValueId value() const { return ValueId(second); }
  ExprId operand() const { return ExprId(first); }
  ExprId start() const { return ExprId(first); }
  ExprId step() const { return ExprId(second); }
  ExprId left() const { return ExprId(first); }
  ExprId right() const { return ExprId(second); }
};

// For a Sum: `factor` times `expr`. For a Product: `expr`, factor 1.
struct ExprTerm {
  ExprId expr;
  uint64_t factor = 1;
  friend bool operator==(const ExprTerm&, const ExprTerm&) = default;
};

// The lowest `width` bits of `bits`; and these as a signed number.
constexpr uint64_t maskTo(uint64_t bits, unsigned width) {
  return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}
constexpr int64_t signedAt(uint64_t bits, unsigned width) {
  const unsigned spare = 64 - width;
  return static_cast<int64_t>(bits << spare) >> spare;
}

class ScevExpressions {
 public:
  explicit ScevExpressions(const Loops& loops) : loops_(loops), table_(2 * kAtFirst) {
    nodes_.reserve(kAtFirst);
    terms_.reserve(kAtFirst);
  }

  const Expr& operator[](ExprId e) const { return nodes_[e.value]; }
  std::size_t size() const { return nodes_.size(); }
  std::span<const ExprTerm> terms(ExprId e) const {
    return {terms_.data() + nodes_[e.value].firstTerm, nodes_[e.value].termCount};
  }

  ExprId constant(uint64_t bits, unsigned width);
  // `loop`: the innermost loop where the value begins; none for a value that is the same everywhere.
  ExprId value(RegId reg, ValueId value, unsigned width, LoopId loop);

  ExprId add(ExprId a, ExprId b);
  ExprId addConstant(ExprId a, uint64_t c);
  ExprId scale(ExprId a, uint64_t factor);
  ExprId negate(ExprId a) { return scale(a, ~uint64_t{0}); }
  ExprId subtract(ExprId a, ExprId b) { return add(a, negate(b)); }
  ExprId multiply(ExprId a, ExprId b);
  // Wider or narrower; to the same width: `a` itself. The extensions do not go inside sums and recurrences.
  ExprId signExtend(ExprId a, unsigned width);
  ExprId zeroExtend(ExprId a, unsigned width);
  ExprId truncate(ExprId a, unsigned width);
  ExprId minMax(ExprKind kind, ExprId a, ExprId b);
  // By a constant or an expression; folded where both are constants or the divisor is 1.
  ExprId divide(ExprId a, ExprId b);
  ExprId remainder(ExprId a, ExprId b);
  // `start` and `step` must not vary in the loop.
  ExprId recurrence(LoopId loop, ExprId start, ExprId step);

  bool isConstant(ExprId e) const { return (*this)[e].kind == ExprKind::Constant; }
  bool isConstant(ExprId e, uint64_t bits) const { return isConstant(e) && (*this)[e].constant == bits; }
  bool isRecurrence(ExprId e, LoopId l) const {
    return (*this)[e].kind == ExprKind::Recurrence && (*this)[e].loop == l;
  }
  // Whether it has one value as long as control stays in the loop.
  bool isInvariant(ExprId e, LoopId l) const;
  // The constant part: of a sum, of a recurrence's start (inmost); 0 for others.
  uint64_t constantPart(ExprId e) const;
  // Without that: e == withoutConstant(e) + constantPart(e).
  ExprId withoutConstant(ExprId e) { return addConstant(e, ~constantPart(e) + 1); }
  // The difference, if it is a constant.
  bool differByConstant(ExprId a, ExprId b, uint64_t& difference);
  // At least that many of the lowest bits are zero.
  unsigned trailingZeros(ExprId e) const;
  // Whether `what` is a node of `e`.
  bool contains(ExprId e, ExprId what) const;

 private:
  static constexpr std::size_t kAtFirst = 512;  // nodes and terms that there is room for

  // `node` has all but its terms, its size and where it varies.
  ExprId intern(Expr& node, std::span<const ExprTerm> terms);
  ExprId extend(ExprKind kind, ExprId a, unsigned width);
  ExprId sum(unsigned width, uint64_t constant, std::vector<ExprTerm>& terms);
  void takeApart(ExprId e, uint64_t factor, uint64_t& constant, std::vector<ExprTerm>& terms) const;
  void noteVarying(Expr& node, ExprId part) const;
  void noteLoop(Expr& node, LoopId loop) const;
  bool isInside(LoopId inner, LoopId outer) const;
  void grow();

  const Loops& loops_;
  std::vector<Expr> nodes_;
  std::vector<ExprTerm> terms_;
  // Open addressing over nodes_, with the upper half of each hash.
  struct Slot {
    uint32_t node = ExprId::kNone, hash = 0;
  };
  std::vector<Slot> table_;
  std::vector<ExprTerm> scratch_;  // the memory of sums that are being made
  // By the bits of a number: the constant that was asked for last. Few numbers are asked for again and again.
  std::array<ExprId, 64> constants_;
};

}  // namespace ptxopt
