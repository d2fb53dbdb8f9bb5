// Puts instructions into a function that compute an expression at a place.
//
// What is there already is used: a register that holds the expression or a part of it by a value whose definition
// dominates the place. Where such a register is written again, its value is kept in a register of its own by a copy
// directly after the definition, which costs ptxas nothing. Constants of the launch (parameters of kernels,
// special registers, addresses of variables) are computed anew where no definition dominates the place. A sum of 64
// bits is made with its products last, each as mul.wide and add: that is one machine instruction, and the result is
// an aligned pair. A recurrence of a loop around the place that no register holds is made of a counter of that loop that one
// does: in a nest, of 32 bits, where it was extended. `canExpand` is false for what cannot be computed at the place: a value from elsewhere, a minimum,
// a quotient. Cost: linear in the expression; the table of what registers hold is made once, linear in the function.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>

#include "passes/addressing/loop_uses.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {

// Before `before`, which stands in `block`; no id: at the end of the function.
struct ExpansionPlace {
  BlockId block;
  InstrId before;
};

constexpr bool fitsSigned32(int64_t c) { return c == static_cast<int32_t>(c); }

// A number of 64 bits as the product of two of 32 bits, extended alike: of an expression and a constant, or of two
// expressions, and one has taken up the constant factor.
struct WideProduct {
  ExprId left;
  ExprId right;  // none: `constant` stands for it
  int64_t constant = 0;
  bool isSigned = true;  // how they are extended
};
// `factor` times `e`; none where it is not such a product, or where that is not proved.
std::optional<WideProduct> wideProduct(ScalarEvolution& evolution, ExprId e, uint64_t factor);

class Expander {
 public:
  Expander(Function& f, PassContext& context);

  bool canExpand(ExprId e, const ExpansionPlace& place) { return cost(e, place) != kImpossible; }
  // Machine instructions, roughly.
  static constexpr unsigned kImpossible = UINT32_MAX;
  unsigned cost(ExprId e, const ExpansionPlace& place) { return cost(e, place, 0); }
  // A register of the expression's width that holds it at the place; what comes after the place may write it. Only
  // after canExpand.
  RegId emit(ExprId e, const ExpansionPlace& place);
  // One that keeps it: written nowhere else, and named the same everywhere.
  RegId emitToKeep(ExprId e, const ExpansionPlace& place);
  // A sum computed anew from its parts, although a register may hold it: for a form that ptxas handles better.
  unsigned costAnew(ExprId e, const ExpansionPlace& place);
  RegId emitAnew(ExprId e, const ExpansionPlace& place) { return emitSum(e, place); }
  // Whether a sum of 64 bits ends, computed anew, with a mul.wide and its addition.
  bool endsWide(ExprId e) const;

  // Single instructions, put before a place. `width`: 32 or 64 bits.
  RegId add(RegId a, RegId b, unsigned width, InstrId before);
  RegId addImmediate(RegId a, int64_t c, unsigned width, InstrId before);
  void addConstantTo(RegId reg, int64_t c, unsigned width, InstrId before);
  RegId subtract(RegId a, RegId b, InstrId before);
  RegId multiplyWide(RegId a, RegId b, bool isSigned, InstrId before);
  RegId multiplyWide(RegId a, int64_t factor, bool isSigned, InstrId before);
  void addTo(RegId to, RegId a, RegId b, unsigned width, InstrId before);
  void copyTo(RegId to, RegId from, InstrId before);
  InstrId instruction(SynthOpcode opcode, std::initializer_list<Operand> operands, InstrId before);
  // Whether a register's name means it before a place.
  bool canBeNamed(RegId r, InstrId place) const;
  // For the function as it was: a caller that may want them later asks once before the function changes.
  const Occurrences& occurrences() const;
  std::size_t inserted() const { return inserted_; }

 private:
  struct Holder {
    RegId reg;
    ValueId value;
    BlockId block;
    InstrId definition;      // none for phis and entry values
    int64_t constant = 0;    // its constant part
    Holder* next = nullptr;  // of those that hold the same but for that
  };
  // In the order in which they were found.
  struct Holders {
    Holder *first = nullptr, *last = nullptr;
    std::size_t count = 0;
  };

  void findValues();
  void findHolders(BlockId b);
  // A register that may be named at the place and holds the expression there; none.
  const Holder* holderAt(ExprId e, const ExpansionPlace& place);
  // One that holds it but for a constant.
  const Holder* nearAt(ExprId e, const ExpansionPlace& place);
  template <typename Accept>
  const Holder* findHolder(ExprId e, const ExpansionPlace& place, Accept&& accept);
  bool dominates(const Holder& h, const ExpansionPlace& place) const;
  bool canName(const Holder& h, const ExpansionPlace& place) const;
  RegId use(const Holder& h, const ExpansionPlace& place);
  // A recurrence as `factor` times a counter of its loop that a register holds at the place, and what does not vary there.
  struct OfCounter {
    ExprId counter;        // what the register holds
    bool isSigned = true;  // how it is extended, where it is narrower
    uint64_t factor = 1;
    ExprId rest;
  };
  std::optional<OfCounter> ofCounter(ExprId recurrence, const ExpansionPlace& place);
  RegId emitOfCounter(ExprId recurrence, const ExpansionPlace& place);
  unsigned costOfRecurrence(ExprId e, const ExpansionPlace& place, unsigned depth);
  unsigned cost(ExprId e, const ExpansionPlace& place, unsigned depth);
  unsigned costOfSum(ExprId e, const ExpansionPlace& place, unsigned depth);
  std::optional<WideProduct> wideTerm(const Expr& sum, const ExprTerm& t) const;
  unsigned costOf(const WideProduct& w, const ExpansionPlace& place, unsigned depth);
  RegId emitSum(ExprId e, const ExpansionPlace& place);
  RegId emitProduct(ExprId e, uint64_t factor, const ExpansionPlace& place);
  RegId constantDefinition(const Expr& n, const ExpansionPlace& place);
  RegId make(unsigned width);

  Function& f_;
  PassContext& context_;
  ScalarEvolution& evolution_;
  ScevExpressions& e_;
  const Cfg& cfg_;
  const DominatorTree& dominators_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  mutable std::optional<Occurrences> occurrences_;  // when first asked for, or at once with many scopes
  RegisterScopes scopes_;
  const std::size_t known_;  // instructions of the function as it was: the register scopes know no others
  struct Value {
    RegId reg;
    ValueId value;
  };
  std::span<const Value> valuesOf(BlockId b) const {
    return std::span(values_).subspan(valueStart_[b.value], valueStart_[b.value + 1] - valueStart_[b.value]);
  }
  std::vector<Value> values_;         // by block that defines them; made when first needed
  std::vector<uint32_t> valueStart_;  // by block, and the end of the last
  std::vector<bool> isSearched_;      // by block: its values are among the holders
  std::deque<Holder> allHolders_;
  std::vector<Holders> holders_;                            // by ExprId without the constant part
  std::map<std::pair<uint32_t, uint32_t>, RegId> copies_;   // by register and value
  std::map<std::pair<uint32_t, uint32_t>, RegId> emitted_;  // by expression and place
  std::size_t inserted_ = 0;
};

}  // namespace ptxopt
