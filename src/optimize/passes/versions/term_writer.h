// Puts instructions into a kernel that compute bound terms (bound_terms.h) at its entry, each term once, and tests of
// them.
//
// A test is a 32-bit number whose sign says that it failed: the upper half of a difference. Tests are put together by
// `and` and `or`, which the machine does three at a time, and one comparison decides at the end.
#pragma once

#include <map>
#include <vector>

#include "analysis/addresses/bound_terms.h"
#include "ir/module.h"

namespace ptxopt {

class TermWriter {
 public:
  // Before `where`.
  TermWriter(const Module& module, Function& f, InstrId where, const BoundTerms& terms)
      : module_(module), f_(f), where_(where), terms_(terms) {}

  static bool canWrite(const Module& module, const BoundTerms& terms, TermId t);
  // Has 64 bits.
  RegId write(TermId t);
  // Negative where a < b. The difference does not wrap.
  RegId isBelow(TermId a, TermId b);
  // Negative where one of them is, or has a bit from `bits` on, more than 32.
  RegId isBeyond(const std::vector<TermId>& all, unsigned bits);
  // Negative where both are, where one of them is.
  RegId both(RegId a, RegId b) { return combine(SynthOpcode::AndB32, ScalarType::b32, a, b); }
  RegId either(RegId a, RegId b) { return combine(SynthOpcode::OrB32, ScalarType::b32, a, b); }
  // A predicate: true where `failed` is not negative.
  RegId holds(RegId failed);

 private:
  RegId emit(OpcodeId opcode, ScalarType type, std::initializer_list<Operand> sources);
  RegId emit(SynthOpcode opcode, ScalarType type, std::initializer_list<Operand> sources) {
    return emit(module_.synthOpcode(opcode), type, sources);
  }
  RegId combine(SynthOpcode opcode, ScalarType type, RegId a, RegId b);
  RegId make(TermId t);
  RegId sum(TermId t);
  RegId narrow(TermId t);
  RegId upperHalf(RegId wide);
  bool isNarrow(TermId t) const;
  RegId number(int64_t c);

  const Module& module_;
  Function& f_;
  const InstrId where_;
  const BoundTerms& terms_;
  std::map<TermId, RegId> made_, narrow_;
};

}  // namespace ptxopt
