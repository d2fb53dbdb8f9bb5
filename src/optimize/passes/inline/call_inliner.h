// Puts the body of a function where a call of it stands.
//
// What:       what passes through .param space passes through local memory then: the variables of the call
//             sequence become variables of the caller that both sides load and store, which is what PTX makes
//             of parameters whose address is taken; sroa makes registers of them. Registers, labels
//             and variables of the body are new ones of the caller, so its braces, declarations and line
//             numbers are not copied; `ret` goes to a label after the body, or falls through.
// Registers:  operands are copied entry by entry with their signs, constants and components, registers with their types
//             and lanes. ptxas treats data in st.local (expressions, sums, conversions) as it treats data in
//             st.param.
// Invariants: the caller computes what it did. Call sequences stand as one before and are gone as one; nothing
//             else of the caller moves. Machine code counts for the line of the call.
// Cost:       linear in the caller, once; and in the body for each call.
// Declines:   guarded-call, signature (other numbers, sizes or alignments than the body has), parameter-use (a
//             variable of the call sequence that something else names as well, or an access that local memory
//             does not have), hidden-names (the caller has a name that means something else in the body).
#pragma once

#include <string_view>
#include <vector>

#include "analysis/dataflow/direct_calls.h"

namespace ptxopt {

class CallInliner {
 public:
  // Looks at the caller's call sequences as they are now; its other calls may be replaced in any order.
  CallInliner(Function& caller, const Module& module);

  // Why not, or empty: the call is gone.
  std::string_view replace(InstrId call, const Function& body);

 private:
  struct Use {
    VariableId variable;
    InstrId at;
    bool isAccess;  // as the base of an ld.param or st.param
  };
  // The ids of a body's parts in the caller.
  struct Copies {
    std::vector<RegId> registers;
    std::vector<VariableId> variables;
    std::vector<LabelId> labels;
    LabelId end;  // after the body; made where something goes there
  };

  std::string_view check(InstrId call, const DirectCall& parts, const Function& body) const;
  bool isPassed(const Operand& actual, VariableId formal, InstrId call, const Function& body) const;
  std::span<const Use> usesOf(VariableId v) const;
  uint64_t bytesOf(const Function& f, VariableId v) const;
  uint32_t alignmentOf(const Function& f, VariableId v) const;
  VariableId makeLocal(VariableId actual, VariableId formal, const Function& body);
  void copy(const Function& body, InstrId where, Copies& copies);
  void copyInstruction(const Function& body, InstrId from, bool isLast, InstrId where, Copies& copies);
  Operand copyOperand(const Function& body, const Operand& o, Copies& copies);
  void dropSequence(InstrId call, std::span<const VariableId> passed);

  Function& f_;
  const Module& module_;
  std::vector<Use> uses_;  // of variables of call sequences, by variable
};

}  // namespace ptxopt
