#include "passes/splitting/copy_mode.h"

#include "passes/splitting/cheap_definitions.h"
#include "passes/util/insert_copy.h"

namespace ptxopt {

std::string_view CopyMode::whyNot(const RegisterSplit& s, const HighPoints&) const {
  if (hasCheapValue(source_.module, source_.f, source_.intervals, source_.slots, s.reg)) return "cheap-definition";
  if (s.defs.size() != 1) return "several-definitions";
  return source_.module.form(source_.f[s.defs[0]]).is(effect::Convergent) ? "convergent" : "";
}

void CopyMode::beginSplit(Function& f, RegisterSplit& s) {
  s.carrier = f.makeRegister(f.registers[s.reg.value].type).value;
}

void CopyMode::takeOver(Function& f, const RegisterSplit& s, InstrId place) {
  insertCopy(source_.module, f, RegId(s.carrier), s.reg, place);
}

void CopyMode::writeAgain(Function& f, const RegisterSplit& s, InstrId place) {
  insertCopy(source_.module, f, s.reg, RegId(s.carrier), place);
}

}  // namespace ptxopt
