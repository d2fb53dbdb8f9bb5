#include "passes/splitting/remat_mode.h"

#include <algorithm>

#include "passes/splitting/cheap_definitions.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {

std::string_view RematMode::whyNot(const RegisterSplit& s, const HighPoints&) const {
  const Function& f = source_.f;
  const bool isSameEverywhere =
      s.defs.size() == 1 && isCheapDefinition(source_.module, f, f[s.defs[0]]) &&
      std::ranges::all_of(s.uses, [&](InstrId use) {
        return readsSameAt(f, source_.intervals, source_.slots, s.defs[0], source_.slots[use]) &&
               operandsReach(s.defs[0], use);
      });
  return isSameEverywhere ? "" : "not-recomputable";
}

bool RematMode::operandsReach(InstrId definition, InstrId place) const {
  return std::ranges::all_of(source_.f.operandsOf(source_.f[definition]), [&](const Operand& o) {
    return !o.isRegister() || source_.scopes.reaches(source_.occurrences, o.reg(), place);
  });
}

bool RematMode::mayPick(const RegisterSplit& s, const PickedRegisters& picked, MissedRemarks&) const {
  return std::ranges::none_of(source_.f.operandsOf(source_.f[s.defs[0]]), [&](const Operand& o) {
    return o.isRegister() && o.reads() && picked.isSplit[o.payload];
  });
}

void RematMode::pick(RegisterSplit& s, PickedRegisters& picked) {
  for (const Operand& o : source_.f.operandsOf(source_.f[s.defs[0]]))
    if (o.isRegister() && o.reads()) picked.isOperand[o.payload] = true;
}

void RematMode::beginSplit(Function&, RegisterSplit& s) {
  if (s.definitionDies) dying_.push_back(s.defs[0]);
}

void RematMode::writeAgain(Function& f, const RegisterSplit& s, InstrId place) { insertAgain(f, s.defs[0], place); }

void RematMode::end(Function& f) {
  for (const InstrId id : dying_) f.erase(id);
}

}  // namespace ptxopt
