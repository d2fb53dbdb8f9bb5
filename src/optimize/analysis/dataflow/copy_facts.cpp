#include "analysis/dataflow/copy_facts.h"

#include <algorithm>
#include <iterator>

namespace ptxopt {

CopyFacts::CopyFacts(const Module& module, const Function& function) : marks_(function.registers.size()) {
  std::vector<InstrId> stores;
  for (const InstrId id : function) {
    const Instruction& i = function[id];
    uint8_t forMod = 0, forAll = 0;
    if (i.isInstruction()) {
      const OpcodeForm& form = module.form(i);
      constexpr auto kBoth = effect::Async | effect::Convergent;
      if (!form.knowsOperands() || (form.effects & kBoth) == kBoth) forAll = kOpaque;
      if (!i.is(Instruction::Guarded)) forMod = kTied;
      if (mayStoreNumber(form)) stores.push_back(id);
      if (mayCopy(form.op)) readCopies(module, function, id, copies_);
    }
    for (const Operand& o : function.operandsOf(i)) {
      if (!o.isRegister()) continue;
      uint8_t& mark = marks_[o.payload];
      if (o.reads()) mark |= 1 + (mark & 1);
      if (o.role == Role::Mod) mark |= forMod;
      mark |= forAll;
    }
  }
  stored_ = findStoredNumbers(module, function, stores);
}

std::vector<Copy> CopyFacts::plainCopies() const {
  std::vector<Copy> plain;
  std::ranges::copy_if(copies_, std::back_inserter(plain),
                       [](const Copy& c) { return c.family == CopyFamily::Plain; });
  return plain;
}

}  // namespace ptxopt
