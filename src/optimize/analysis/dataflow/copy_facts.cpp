#include "analysis/dataflow/copy_facts.h"

#include <algorithm>
#include <iterator>

namespace ptxopt {

CopyFacts::CopyFacts(const Module& module, const Function& function) : marks_(function.registers.size()) {
  std::vector<InstrId> stores;
  const Instruction* const all = function.instructions.data();
  const OpcodeForm* const forms = module.opcodes.data();
  uint8_t* const marks = marks_.data();  // which may stand for any byte: what the loop needs is at hand
  for (InstrId id = function.first; id.valid(); id = all[id.value].next) {
    const Instruction& i = all[id.value];
    uint8_t forMod = 0, forAll = 0;
    if (i.isInstruction()) {
      const OpcodeForm& form = forms[i.payload];
      constexpr auto kBoth = effect::Async | effect::Convergent;
      if (!form.knowsOperands() || (form.effects & kBoth) == kBoth) forAll = kOpaque;
      if (!i.is(Instruction::Guarded)) forMod = kTied;
      if (mayStoreNumber(form)) stores.push_back(id);
      if (mayCopy(form.op)) {
        if (const auto copy = readCopy(module, function, id))
          copies_.push_back(*copy);
        else
          readVectorCopies(module, function, id, copies_);
      }
    }
    for (const Operand& o : function.operandsOf(i)) {
      if (!o.isRegister()) continue;
      const uint8_t mark = marks[o.payload], again = 1 + (mark & 1);
      marks[o.payload] = mark | forAll | (o.reads() ? again : 0) | (o.role == Role::Mod ? forMod : 0);
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
