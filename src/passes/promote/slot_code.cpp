#include "passes/promote/slot_code.h"

#include "analysis/scev_instructions.h"
#include "ir/pragmas.h"

namespace ptxopt {
namespace {

Operand use(RegId r) { return registerOperand(r, Role::Use, Join::Comma); }
Operand def(RegId r) { return registerOperand(r, Role::Def); }

Operand number(uint64_t value) {
  Operand o;
  o.kind = OperandKind::Integer;
  o.join = Join::Comma;
  o.payload = static_cast<uint32_t>(value);
  return o;
}

Operand pair(Join join) {
  Operand o;
  o.kind = OperandKind::Vector;
  o.join = join;
  o.payload = 2;
  return o;
}

// From the low bytes of a register to a register of 16, 32 or 64 bits.
MadeOpcode extension(unsigned toBits, unsigned bytes, bool isSigned) {
  using M = MadeOpcode;
  if (bytes == 1) {
    if (toBits == 16) return isSigned ? M::CvtS16S8 : M::CvtU16U8;
    if (toBits == 32) return isSigned ? M::CvtS32S8 : M::CvtU32U8;
    return isSigned ? M::CvtS64S8 : M::CvtU64U8;
  }
  if (bytes == 2) {
    if (toBits == 16) return M::MovB16;
    if (toBits == 32) return isSigned ? M::CvtS32S16 : M::CvtU32U16;
    return isSigned ? M::CvtS64S16 : M::CvtU64U16;
  }
  if (bytes == 4 && toBits == 64) return isSigned ? M::CvtS64S32 : M::CvtU64U32;
  return toBits == 64 ? M::MovB64 : M::MovB32;
}

// The low bits of a register in a narrower one, or a copy.
MadeOpcode truncation(unsigned toBits, unsigned fromBits) {
  using M = MadeOpcode;
  if (toBits == 16) return fromBits == 16 ? M::MovB16 : fromBits == 32 ? M::CvtU16U32 : M::CvtU16U64;
  if (toBits == 32) return fromBits == 16 ? M::CvtU32U16 : fromBits == 32 ? M::MovB32 : M::CvtU32U64;
  return M::MovB64;
}

}  // namespace

void SlotCode::makeRegisters(LocalSlot& slot) {
  if (slot.isWhole) {
    slot.registers.push_back(f_.makeRegister(slot.bytes == 8   ? ScalarType::b64
                                             : slot.bytes == 4 ? ScalarType::b32
                                                               : ScalarType::b16));
    return;
  }
  for (uint32_t w = 0; w < slot.units(); ++w) slot.registers.push_back(f_.makeRegister(ScalarType::b32));
}

// In front of the access, under its guard if it writes what the access wrote.
void SlotCode::emit(MadeOpcode opcode, std::span<const Operand> operands, bool isResult) {
  std::vector<Operand> all;
  const bool isGuarded = isResult && f_[at_].is(Instruction::Guarded);
  if (isGuarded) all.push_back(f_.operandsOf(f_[at_])[0]);
  for (const Operand& o : operands) {
    all.push_back(o);
    if (isGuarded && o.role == Role::Def) all.back().role = Role::Mod;
  }
  f_.insert(at_, module_.madeOpcode(opcode), all);
}

uint64_t SlotCode::constantOf(const Operand& o) const {
  if (o.kind == OperandKind::Float32) return o.payload;
  if (o.kind == OperandKind::Float64) return f_.constants[o.payload];
  return immediate(f_, o).value_or(0);
}

void SlotCode::extend(RegId to, RegId from, unsigned bytes, bool isSigned) {
  const Operand operands[] = {def(to), use(from)};
  emit(extension(bitsOf(to), bytes, isSigned), operands);
}

void SlotCode::load(const LocalAccess& access, const LocalSlot& slot, int64_t offset, const Operand& to) {
  if (!to.isRegister()) return;  // `_`
  const RegId r = to.reg();
  if (slot.isWhole) return extend(r, slot.registers.front(), access.bytes, access.isSigned);
  if (access.bytes == 8) {
    const Operand operands[] = {def(r), pair(Join::Comma), registerOperand(slot.wordAt(offset), Role::Use),
                                use(slot.wordAt(offset + 4))};
    return emit(MadeOpcode::MovB64, operands);
  }
  if (access.bytes == 4) return extend(r, slot.wordAt(offset), 4, access.isSigned);
  const bool isDirect = bitsOf(r) == 32;
  const RegId field = isDirect ? r : f_.makeRegister(ScalarType::b32);
  const Operand extract[] = {def(field), use(slot.wordAt(offset)), number(static_cast<uint64_t>(offset % 4) * 8),
                             number(access.bytes * 8u)};
  emit(access.isSigned ? MadeOpcode::BfeS32 : MadeOpcode::BfeU32, extract, isDirect);
  if (isDirect) return;
  const Operand operands[] = {def(r), use(field)};
  if (bitsOf(r) == 16) return emit(MadeOpcode::CvtU16U32, operands);
  emit(access.isSigned ? MadeOpcode::CvtS64S32 : MadeOpcode::CvtU64U32, operands);
}

void SlotCode::store(const LocalAccess& access, const LocalSlot& slot, int64_t offset, const Operand& from) {
  const bool isConstant = !from.isRegister();
  const uint64_t constant = isConstant ? constantOf(from) : 0;
  const auto put = [&](RegId to, uint64_t bits) {
    const Operand operands[] = {def(to), number(bits)};
    emit(bitsOf(to) == 16 ? MadeOpcode::MovB16 : MadeOpcode::MovB32, operands);
  };
  if (slot.isWhole) {
    const RegId to = slot.registers.front();
    if (!isConstant) {
      const Operand operands[] = {def(to), use(from.reg())};
      return emit(truncation(bitsOf(to), bitsOf(from.reg())), operands);
    }
    if (access.bytes != 8) return put(to, constant & (~uint64_t{0} >> (64 - 8 * access.bytes)));
    Operand source = from;
    source.join = Join::Comma;
    const Operand operands[] = {def(to), source};
    return emit(MadeOpcode::MovB64, operands);
  }
  const RegId word = slot.wordAt(offset);
  if (access.bytes == 8) {
    const RegId next = slot.wordAt(offset + 4);
    if (isConstant) {
      put(word, constant & UINT32_MAX);
      return put(next, constant >> 32);
    }
    const Operand operands[] = {pair(Join::None), def(word), registerOperand(next, Role::Def, Join::Comma),
                                use(from.reg())};
    return emit(MadeOpcode::MovB64, operands);
  }
  if (access.bytes == 4) {
    if (isConstant) return put(word, constant & UINT32_MAX);
    const Operand operands[] = {def(word), use(from.reg())};
    return emit(truncation(32, bitsOf(from.reg())), operands);
  }
  Operand field = number(constant & (access.bytes == 1 ? 0xffu : 0xffffu));
  if (!isConstant) {
    RegId low = from.reg();
    if (bitsOf(low) != 32) {
      low = f_.makeRegister(ScalarType::b32);
      const Operand operands[] = {def(low), use(from.reg())};
      emit(truncation(32, bitsOf(from.reg())), operands, false);
    }
    field = use(low);
  }
  const Operand insert[] = {def(word), field, use(word), number(static_cast<uint64_t>(offset % 4) * 8),
                            number(access.bytes * 8u)};
  emit(MadeOpcode::BfiB32, insert);
}

void SlotCode::replace(const LocalAccess& access, const std::vector<LocalSlot>& slots) {
  at_ = access.at;
  if (const InstrId pragma = usedBytesMaskOf(module_, f_, at_); pragma.valid()) f_.erase(pragma);
  for (uint32_t k = 0; k < access.elements; ++k) {
    const int64_t offset = access.offset + int64_t{k} * access.bytes;
    const LocalSlot& slot = *LocalSlots::find(slots, offset);
    // The list of operands grows while instructions are put in.
    const Operand element = f_.operandsOf(f_[at_])[access.firstElement + k];
    if (access.isStore)
      store(access, slot, offset, element);
    else
      load(access, slot, offset, element);
  }
  f_.erase(at_);
}

}  // namespace ptxopt
