// One walk over the instructions. What an opcode alone says is worked out where it is first met, and looked up after that.
#include "analysis/dataflow/copy_facts.h"

#include <algorithm>
#include <iterator>

namespace ptxopt {

namespace {

// What the opcode alone says.
constexpr uint8_t kKindIsRead = 1, kKindOpaque = 2, kKindStores = 4, kKindCopies = 8;

uint8_t kindOf(const OpcodeForm& form) {
  constexpr auto kBoth = effect::Async | effect::Convergent;
  uint8_t kind = kKindIsRead;
  if (!form.knowsOperands() || (form.effects & kBoth) == kBoth) kind |= kKindOpaque;
  if (mayStoreNumber(form)) kind |= kKindStores;
  if (mayCopy(form.op)) kind |= kKindCopies;
  return kind;
}

}  // namespace

CopyFacts::CopyFacts(const Module& module, const Function& function) : marks_(function.registers.size()) {
  std::vector<InstrId> stores;
  std::vector<uint8_t> kinds(module.opcodes.size());  // as far as met
  for (const InstrId id : function) {
    const Instruction& i = function[id];
    uint8_t forMod = 0, forAll = 0;
    if (i.isInstruction()) {
      uint8_t& kind = kinds[i.payload];
      if (kind == 0) kind = kindOf(module.form(i));
      if ((kind & kKindOpaque) != 0) forAll = kOpaque;
      if (!i.is(Instruction::Guarded)) forMod = kTied;
      if ((kind & kKindStores) != 0) stores.push_back(id);
      if ((kind & kKindCopies) != 0) readCopies(module, function, id, copies_);
    }
    hasScopes_ |= i.kind == InstrKind::ScopeOpen;
    for (const Operand& o : function.operandsOf(i)) {
      if (!o.isRegister() || (o.role == Role::Def && forAll == 0)) continue;
      uint8_t mark = marks_[o.payload] | forAll;
      if (o.reads()) mark |= 1 + (mark & 1);
      if (o.role == Role::Mod) mark |= forMod;
      marks_[o.payload] = mark;
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
