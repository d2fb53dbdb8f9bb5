#include "ir/stored_numbers.h"

namespace ptxopt {

bool mayStoreNumber(const OpcodeForm& form) {
  return form.op == Op::St || form.op == Op::StAsync || form.op == Op::StBulk || form.op == Op::Sust;
}

bool storesNarrowly(const OpcodeForm& form, const Register& r) {
  if (!mayStoreNumber(form) || form.type == ScalarType::None || r.registerClass() == RegisterClass::Pred)
    return false;
  return info(r.type).bits > info(form.type).bits;
}

bool mayMakeNumber(const OpcodeForm& form, const Register& r) {
  if (form.row == nullptr || form.is(effect::Call) || !isInteger(r.type)) return true;
  return form.type != ScalarType::None && !isInteger(form.type);
}

StoredNumbers findStoredNumbers(const Module& module, const Function& f) {
  std::vector<InstrId> stores;
  for (const InstrId id : f)
    if (f[id].isInstruction() && mayStoreNumber(module.form(f[id]))) stores.push_back(id);
  return findStoredNumbers(module, f, stores);
}

StoredNumbers findStoredNumbers(const Module& module, const Function& f, std::span<const InstrId> stores) {
  StoredNumbers found;
  found.isStoredNarrowly.resize(f.registers.size());
  found.mayBeNumber.resize(f.registers.size());
  bool any = false;
  for (const InstrId id : stores) {
    const Instruction& i = f[id];
    const OpcodeForm& form = module.form(i);
    const auto operands = f.operandsOf(i);
    std::size_t addressEnd = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const Operand& o = operands[k];
      if (o.kind == OperandKind::Memory) addressEnd = k + 1 + o.inside();
      if (!o.isRegister() || !o.reads() || k < addressEnd || !storesNarrowly(form, f.registers[o.payload]))
        continue;
      found.isStoredNarrowly[o.payload] = any = true;
      // An integer that becomes an .f32, signed if the instruction that made it is.
      if (!isInteger(form.type)) found.mayBeNumber[o.payload] = true;
    }
  }
  if (!any) return found;
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    if (!i.isInstruction()) continue;
    const OpcodeForm& form = module.form(i);
    for (const Operand& o : f.operandsOf(i))
      if (o.isRegister() && o.writes() && mayMakeNumber(form, f.registers[o.payload]))
        found.mayBeNumber[o.payload] = true;
  }
  // What is passed to a function is what its list of parameters declares.
  for (std::size_t r = 0; r < f.registers.size(); ++r)
    if (f.registers[r].isParameter && !isInteger(f.registers[r].type)) found.mayBeNumber[r] = true;
  return found;
}

namespace {

// Those of which ptxas was asked. Others differ: what set.f32, copysign.f32 and ex2.approx.f32 make is bits.
bool makesWhatItNames(Op op) {
  switch (op) {
    case Op::Abs:
    case Op::Add:
    case Op::Cvt:
    case Op::Fma:
    case Op::Ld:
    case Op::Max:
    case Op::Min:
    case Op::Mov:
    case Op::Mul:
    case Op::Neg:
    case Op::Selp:
    case Op::Sub: return true;
    default: return false;
  }
}

HeldType madeBy(const OpcodeForm& form, const Register& r) {
  using Kind = HeldType::Kind;
  if (!mayMakeNumber(form, r)) return {};
  // What an instruction on integers makes is bits, in a register of any class; so is what a call returns in an integer one.
  if (form.row != nullptr && (isInteger(form.type) || (form.is(effect::Call) && isInteger(r.type)))) return {};
  if (form.row == nullptr || !makesWhatItNames(form.op) || form.type == ScalarType::None) return {Kind::Unclear};
  const bool isKnown = form.type == ScalarType::f16 || form.type == ScalarType::f32 || form.type == ScalarType::f64;
  if (!isKnown || info(form.type).bits != info(r.type).bits) return {Kind::Unclear};
  return {Kind::Number, form.type};
}

HeldType declaredFor(const Register& r) {
  if (isInteger(r.type)) return {};
  const bool isKnown = r.type == ScalarType::f16 || r.type == ScalarType::f32 || r.type == ScalarType::f64;
  return isKnown ? HeldType{HeldType::Kind::Number, r.type} : HeldType{HeldType::Kind::Unclear};
}

// Those of which ptxas was asked, or which are like one of them.
bool staysInBlock(Op op) {
  switch (op) {
    case Op::And:
    case Op::Cvta:
    case Op::Or:
    case Op::Setp:
    case Op::Shl:
    case Op::Shr:
    case Op::St:
    case Op::Xor: return true;
    default: return makesWhatItNames(op);
  }
}

}  // namespace

std::vector<HeldType> findHeldTypes(const Module& module, const Function& f) {
  std::vector<HeldType> held(f.registers.size());
  std::vector<bool> isWritten(f.registers.size());
  const auto add = [&](std::size_t r, const HeldType& made) {
    held[r] = !isWritten[r] || held[r] == made ? made : HeldType{HeldType::Kind::Unclear};
    isWritten[r] = true;
  };
  for (std::size_t r = 0; r < f.registers.size(); ++r)
    if (f.registers[r].isParameter && !isInteger(f.registers[r].type)) add(r, {HeldType::Kind::Unclear});
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) continue;
    const OpcodeForm& form = module.form(f[id]);
    for (const Operand& o : f.operandsOf(f[id]))
      if (o.isRegister() && o.writes()) add(o.payload, madeBy(form, f.registers[o.payload]));
  }
  return held;
}

HeldType heldTypeAt(const Module& module, const Function& f, const Instruction& use, RegId reg) {
  const Register& r = f.registers[reg.value];
  const HeldType declared = declaredFor(r);
  bool isSameBlock = !use.is(Instruction::Guarded);
  for (InstrId at = use.previous; at.valid(); at = f[at].previous) {
    const Instruction& i = f[at];
    if (i.kind == InstrKind::Label) return declared;
    if (!i.isInstruction()) continue;
    const OpcodeForm& form = module.form(i);
    if (form.is(effect::Branch | effect::IndirectBranch)) return declared;
    for (const Operand& o : f.operandsOf(i)) {
      if (!o.isRegister() || o.reg() != reg || !o.writes()) continue;
      const HeldType made = madeBy(form, r);
      if (made != declared && (o.role == Role::Mod || !isSameBlock)) return {HeldType::Kind::Unclear};
      if (o.role != Role::Mod) return made;
    }
    isSameBlock = isSameBlock && !i.is(Instruction::Guarded) && staysInBlock(form.op);
  }
  // What a function gets in a register was not asked of ptxas.
  return r.isParameter && !isInteger(r.type) ? HeldType{HeldType::Kind::Unclear} : declared;
}

}  // namespace ptxopt
