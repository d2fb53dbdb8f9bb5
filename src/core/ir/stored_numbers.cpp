// Narrow stores are collected first. Then one pass over the function marks each register that any of its definitions,
// wherever it stands, may make a number; order and control flow are not looked at.
#include "ir/stored_numbers.h"

namespace ptxopt {
namespace {

// Whether an instruction of this form stores less than the whole register, which is one of its data operands.
bool storesNarrowly(const OpcodeForm& form, const Register& r) {
  if (form.type == ScalarType::None || r.registerClass() == RegisterClass::Pred) return false;
  return info(r.type).bits > info(form.type).bits;
}

bool isNumber(ScalarType type) {
  return type == ScalarType::f16 || type == ScalarType::bf16 || type == ScalarType::tf32 ||
         type == ScalarType::f32 || type == ScalarType::f64;
}

// Whether the value that an instruction of this form writes to the register may have a floating-point type. What is packed
// in an integer register is bits; a type wider than the register is that of a source (`cvt.rn.satfinite.e4m3x2.f32`).
bool mayMakeNumber(const OpcodeForm& form, const Register& r) {
  if (form.row == nullptr || form.is(effect::Call) || !isInteger(r.type)) return true;
  return isNumber(form.type) && info(form.type).bits <= info(r.type).bits;
}

// Calls `use` for each register that the store narrows.
template <typename Use>
void forEachNarrowed(const Module& module, const Function& f, const Instruction& store, const Use& use) {
  const OpcodeForm& form = module.form(store);
  const auto operands = f.operandsOf(store);
  std::size_t addressEnd = 0;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Operand& o = operands[k];
    if (o.kind == OperandKind::Memory) addressEnd = k + 1 + o.inside();
    if (o.isRegister() && o.reads() && k >= addressEnd && storesNarrowly(form, f.registers[o.payload]))
      use(o.payload);
  }
}

}  // namespace

bool mayStoreNumber(const OpcodeForm& form) {
  return form.op == Op::St || form.op == Op::StAsync || form.op == Op::StBulk || form.op == Op::Sust;
}

StoredNumbers findStoredNumbers(const Module& module, const Function& f, std::span<const InstrId> stores) {
  StoredNumbers found;
  found.isStoredNarrowly.resize(f.registers.size());
  found.mayBeNumber.resize(f.registers.size());
  bool any = false;
  for (const InstrId id : stores)
    forEachNarrowed(module, f, f[id], [&](std::size_t r) {
      found.isStoredNarrowly[r] = any = true;
      // An integer that becomes an .f32, signed if the instruction that made it is.
      if (!isInteger(module.form(f[id]).type)) found.mayBeNumber[r] = true;
    });
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

InstrId findNarrowNumberStore(const Module& module, const Function& f) {
  std::vector<InstrId> stores;  // that are narrow
  for (const InstrId id : f) {
    if (!f[id].isInstruction() || !mayStoreNumber(module.form(f[id]))) continue;
    bool isNarrow = false;
    forEachNarrowed(module, f, f[id], [&](std::size_t) { isNarrow = true; });
    if (isNarrow) stores.push_back(id);
  }
  if (stores.empty()) return {};
  const StoredNumbers found = findStoredNumbers(module, f, stores);
  for (const InstrId id : stores) {
    bool mayConvert = false;
    forEachNarrowed(module, f, f[id], [&](std::size_t r) { mayConvert = mayConvert || found.mayBeNumber[r]; });
    if (mayConvert) return id;
  }
  return {};
}

}  // namespace ptxopt
