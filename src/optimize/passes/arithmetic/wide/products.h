// Products of extended numbers as mul.wide. See products.cpp and distribution.cpp.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "passes/addressing/address_opcodes.h"
#include "passes/arithmetic/wide/narrow_values.h"
#include "passes/arithmetic/wide/product_uses.h"
#include "passes/util/loop_register_budget.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/range_register_budget.h"

namespace ptxopt {

// Whether mul.wide can multiply by it.
inline bool fitsKind(int64_t factor, bool isSigned) {
  return isSigned ? factor >= INT32_MIN && factor <= INT32_MAX : factor >= 0 && factor <= int64_t{UINT32_MAX};
}

class WideProducts {
 public:
  WideProducts(const Function& f, PassContext& context, const AddressValues& values, NarrowValues& narrow,
               Edits& edits, MissedRemarks& missed);

  // The only operations that look() does something about.
  static bool knows(Op op) { return op == Op::Shl || op == Op::Mul || op == Op::Mad || op == Op::Add; }
  // Whether the instruction is a product, whatever becomes of it.
  bool look(InstrId id);
  // Decides on what depends on all that was looked at.
  void finish();
  // Whether it is an addition that will be a sum of products.
  bool isTaken(InstrId id) const { return isTaken_[id.value]; }

 private:
  static constexpr std::size_t kMostTerms = 4;
  static constexpr unsigned kMostDepth = 6;

  // A summand: an extended number, or any 64-bit value.
  struct Term {
    Operand operand;
    InstrId at;  // the addition that reads it
    Narrow narrow;
    bool isSubtracted = false;
    SlotIndex place;                  // of its definition
    std::optional<int64_t> constant;  // a number that an addition can hold, times the factor
  };

  // What pays only where others multiply by the same number, too.
  struct Waiting {
    InstrId id;
    Operand operand;
    int64_t factor;
    bool isSigned;
    std::optional<Operand> added;
  };

  const OpcodeForm& form(InstrId id) const { return module_.form(f_[id]); }
  bool isSum(InstrId id) const { return isAddition(form(id)) || isSubtraction(form(id)); }
  bool hasRoom(InstrId id);
  bool prefersSigned(const Operand& o, InstrId at, Narrow n) const;
  bool needsUpper(ValueKey k, unsigned depth) const;
  void emitProduct(InstrId id, const Operand& a, const Operand& b, bool isSigned, const Operand* added,
                   bool isKept);
  void shift(InstrId id, const Operand& a, int64_t factor, bool isSigned);
  void needFactor(int64_t factor, unsigned times) { needs_[factor] += times; }
  bool isPartOfSum(const Operand& o, InstrId at) const;
  bool addsInAddresses() const;
  bool loadsParameters() const;
  void add(InstrId id);
  bool splitWide(InstrId id, std::span<const Operand> operands, bool isSigned);

  bool isOnlyAddress(InstrId addition) const;
  bool distribute(InstrId id, const Operand& sum, int64_t factor, unsigned shift);
  bool collect(const Operand& sum, InstrId at, bool isSubtracted, std::vector<Term>& terms, unsigned& additions);
  bool isForProducts(ValueKey k) const;
  bool isProductForOne(ValueKey k) const;
  InstrId singleAddition(InstrId id) const;
  Operand emitTerm(const Term& t, InstrId id, int64_t factor, unsigned shift);

  const Function& f_;
  PassContext& context_;
  const Module& module_;
  const SlotIndexes& slots_;
  const AddressValues& values_;
  NarrowValues& narrow_;
  Edits& edits_;
  MissedRemarks& missed_;
  ProductUses uses_;
  std::map<int64_t, unsigned> needs_;  // by factor: the additions to parameters that it is multiplied for
  std::vector<InstrId> wide_;          // mul.wide by a number
  std::vector<Waiting> waiting_;
  std::vector<InstrId> additions_;  // of an extended number
  RangeRegisterBudget budget_;
  LoopRegisterBudget loopBudget_;
  std::vector<std::optional<bool>> hasRoom_;  // by loop, as far as asked
  std::vector<bool> isGone_;                  // by InstrId: a sum that was taken apart
  std::vector<bool> isTaken_;                 // by InstrId: an addition that is replaced with a product
};

}  // namespace ptxopt
