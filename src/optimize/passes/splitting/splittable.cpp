#include "passes/splitting/splittable.h"

#include <algorithm>

namespace ptxopt {

std::vector<std::string_view> whyUnsplittable(const Module& module, const Function& f,
                                              const LiveIntervals& intervals) {
  std::vector<std::string_view> why(f.registers.size());
  for (std::size_t r = 0; r < why.size(); ++r) {
    const Register& reg = f.registers[r];
    const RegisterClass c = reg.registerClass();
    const bool isNumber = c == RegisterClass::B16 || c == RegisterClass::B32 || c == RegisterClass::B64 ||
                          c == RegisterClass::F32 || c == RegisterClass::F64;
    if (r == Function::kCarry.value || reg.lanes != 1 || (!isNumber && c != RegisterClass::Pred))
      why[r] = "register-class";
    else if (reg.isParameter)
      why[r] = "parameter";
    else if (std::ranges::any_of(intervals[RegId(r)].values(),
                                 [](const LiveValue& v) { return v.kind == ValueKind::Entry; }))
      why[r] = "undefined";
  }
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    if (!i.isInstruction() || !module.form(i).is(effect::Async | effect::Unknown)) continue;
    for (const Operand& o : f.operandsOf(i))
      if (o.isRegister()) why[o.payload] = module.form(i).is(effect::Unknown) ? "unknown-opcode" : "async";
  }
  return why;
}

bool isOnlyCopied(const Module& module, const Function& f, const Occurrences& occurrences, RegId r) {
  return std::ranges::all_of(occurrences.of(r), [&](const Occurrence& o) {
    const auto operands = f.operandsOf(f[o.instruction]);
    return operands.size() == 2 && operands[0].isRegister() && operands[1].isRegister() &&
           module.form(f[o.instruction]).op == Op::Mov;
  });
}

}  // namespace ptxopt
