// Products of extended numbers as mul.wide. See products.cpp.
#pragma once

#include <optional>
#include <vector>

#include "passes/lsr/loop_room.h"
#include "passes/lsr/range_room.h"
#include "passes/wide/narrow_values.h"

namespace ptxopt {

class WideProducts {
 public:
  WideProducts(const Function& f, PassContext& context, const AddressValues& values, NarrowValues& narrow,
               Edits& edits, Declines& declines);

  // Whether the instruction is a product, whatever becomes of it.
  bool look(InstrId id);
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
    SlotIndex place;  // of its definition
  };

  std::string_view text(InstrId id) const { return module_.text(module_.form(f_[id]).text); }
  bool hasRoom(InstrId id);
  bool prefersSigned(const Operand& o, InstrId at, Narrow n) const;
  bool needsUpper(ValueKey k, unsigned depth) const;
  void emitProduct(InstrId id, const Operand& a, const Operand& b, bool isSigned, const Operand* added);
  void splitWide(InstrId id, std::span<const Operand> operands, bool isSigned);

  bool distribute(InstrId id, const Operand& sum, int64_t factor, unsigned shift);
  bool collect(const Operand& sum, InstrId at, bool isSubtracted, std::vector<Term>& terms, unsigned& additions);
  bool isForProducts(ValueKey k) const;
  InstrId singleAddition(InstrId id) const;
  Operand emitTerm(const Term& t, InstrId id, int64_t factor, unsigned shift);

  const Function& f_;
  PassContext& context_;
  const Module& module_;
  const SlotIndexes& slots_;
  const AddressValues& values_;
  NarrowValues& narrow_;
  Edits& edits_;
  Declines& declines_;
  RangeRoom room_;
  LoopRoom loopRoom_;
  std::vector<std::optional<int>> roomOf_;  // by loop, as far as asked
  std::vector<bool> isTaken_;               // by InstrId: an addition that is replaced with a product
};

}  // namespace ptxopt
