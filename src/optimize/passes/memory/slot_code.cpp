// The width of the value picks the opcodes of the conversion. Values move as whole slots or as words of 32 bits, and
// are computed in integer registers.
#include "passes/memory/slot_code.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "analysis/values/plain_operands.h"
#include "ir/pragmas.h"

namespace ptxopt {
namespace {

constexpr unsigned kDoubleMantissa = 52, kFloatMantissa = 23;

Operand number(uint64_t value) {
  Operand o;
  o.kind = OperandKind::Integer;
  o.join = Join::Comma;
  o.payload = static_cast<uint32_t>(value);
  return o;
}

// From the low bytes of a register to a register of 16, 32 or 64 bits.
SynthOpcode extension(unsigned toBits, unsigned bytes, bool isSigned) {
  using M = SynthOpcode;
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

SynthOpcode moveOf(unsigned bits) {
  return bits == 64 ? SynthOpcode::MovB64 : bits == 32 ? SynthOpcode::MovB32 : SynthOpcode::MovB16;
}

// The low bits of a register in a narrower one, or a copy.
SynthOpcode truncation(unsigned toBits, unsigned fromBits) {
  using M = SynthOpcode;
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

// Before the access, under its guard if it writes what the access wrote.
void SlotCode::emit(SynthOpcode opcode, std::span<const Operand> operands, bool isResult) {
  std::vector<Operand> all;
  const bool isGuarded = isResult && f_[at_].is(Instruction::Guarded);
  if (isGuarded) all.push_back(f_.operandsOf(f_[at_])[0]);
  for (const Operand& o : operands) {
    all.push_back(o);
    if (isGuarded && o.role == Role::Def) all.back().role = Role::Mod;
  }
  f_.insert(at_, module_.synthOpcode(opcode), all);
}

// Moves of a bit type take registers of every class, of its size; what computes takes no floating-point ones.
bool SlotCode::isComputable(RegId r) const { return isIntegerOrBits(f_.registers[r.value].type); }

RegId SlotCode::makeBits(unsigned bits) {
  return f_.makeRegister(bits == 64 ? ScalarType::b64 : bits == 32 ? ScalarType::b32 : ScalarType::b16);
}

void SlotCode::extend(RegId to, RegId from, unsigned bytes, bool isSigned) {
  const SynthOpcode opcode = extension(bitsOf(to), bytes, isSigned);
  const bool isDirect = isComputable(to) || opcode == moveOf(bitsOf(to));
  const RegId extended = isDirect ? to : makeBits(bitsOf(to));
  const Operand operands[] = {defOperand(extended), useOperand(from)};
  emit(opcode, operands, isDirect);
  if (isDirect) return;
  const Operand copy[] = {defOperand(to), useOperand(extended)};
  emit(moveOf(bitsOf(to)), copy);
}

// The bits that ptxas stores of a literal: a 0f literal is its bits, zero-extended, in 64 bits, too; one of double
// precision is rounded to the nearest .f32, a NaN made quiet.
std::optional<uint64_t> SlotCode::literalBits(const Operand& literal, ScalarType type) const {
  if (literal.kind == OperandKind::Float32) return literal.payload;
  if (literal.kind != OperandKind::Float64 && literal.kind != OperandKind::Decimal) return immediate(f_, literal);
  if (literal.is(Operand::Complement) || literal.is(Operand::Not)) return std::nullopt;
  const uint64_t bits = f_.constants[literal.payload] ^ uint64_t { literal.is(Operand::Negated) } << 63;
  if (info(type).bits == 64) return bits;
  const auto value = std::bit_cast<double>(bits);
  if (std::isnan(value))
    return (bits >> 63 << 31) | 0x7fc00000u | (bits >> (kDoubleMantissa - kFloatMantissa) & 0x3fffffu);
  return std::bit_cast<uint32_t>(static_cast<float>(value));
}

// What is stored as one register or constant. ptxas is left to work out expressions, and what it adds to a register.
SlotCode::Stored SlotCode::simple(const LocalAccess& access, std::vector<Operand> stored) {
  const Operand& first = stored.front();
  if (stored.size() == 1 && first.isRegister()) return {.reg = first.reg()};
  if (stored.size() == 1)
    if (const auto bits = literalBits(first, module_.form(f_[at_]).type))
      return {.constant = *bits, .literal = first};
  const unsigned bits = first.isRegister() ? bitsOf(first.reg()) : std::max(8u * access.bytes, 16u);
  const RegId held = makeBits(bits);
  stored.front().join = Join::Comma;
  stored.insert(stored.begin(), defOperand(held));
  emit(moveOf(bits), stored, false);
  return {.reg = held};
}

void SlotCode::load(const LocalAccess& access, const LocalSlot& slot, int64_t offset, const Operand& to) {
  if (!to.isRegister()) return;  // `_`
  const RegId r = to.reg();
  if (slot.isWhole) return extend(r, slot.registers.front(), access.bytes, access.isSigned);
  if (access.bytes == 8) {
    const Operand operands[] = {defOperand(r), pairOperand(Join::Comma),
                                registerOperand(slot.wordAt(offset), Role::Use),
                                useOperand(slot.wordAt(offset + 4))};
    return emit(SynthOpcode::MovB64, operands);
  }
  if (access.bytes == 4) return extend(r, slot.wordAt(offset), 4, access.isSigned);
  const bool isDirect = bitsOf(r) == 32 && isComputable(r);
  const RegId field = isDirect ? r : f_.makeRegister(ScalarType::b32);
  const Operand extract[] = {defOperand(field), useOperand(slot.wordAt(offset)),
                             number(static_cast<uint64_t>(offset % 4) * 8), number(access.bytes * 8u)};
  emit(access.isSigned ? SynthOpcode::BfeS32 : SynthOpcode::BfeU32, extract, isDirect);
  if (isDirect) return;
  if (bitsOf(r) != 16) return extend(r, field, 4, access.isSigned);
  const RegId low = isComputable(r) ? r : makeBits(16);
  const Operand operands[] = {defOperand(low), useOperand(field)};
  emit(SynthOpcode::CvtU16U32, operands, low == r);
  if (low == r) return;
  const Operand copy[] = {defOperand(r), useOperand(low)};
  emit(SynthOpcode::MovB16, copy);
}

void SlotCode::store(const LocalAccess& access, const LocalSlot& slot, int64_t offset, const Stored& from) {
  const bool isConstant = !from.reg.valid();
  const uint64_t constant = from.constant;
  const auto put = [&](RegId to, uint64_t bits) {
    const Operand operands[] = {defOperand(to), number(bits)};
    emit(bitsOf(to) == 16 ? SynthOpcode::MovB16 : SynthOpcode::MovB32, operands);
  };
  if (slot.isWhole) {
    const RegId to = slot.registers.front();
    if (!isConstant) {
      const Operand operands[] = {defOperand(to), useOperand(from.reg)};
      return emit(truncation(bitsOf(to), bitsOf(from.reg)), operands);
    }
    if (access.bytes != 8) return put(to, constant & (~uint64_t{0} >> (64 - 8 * access.bytes)));
    Operand source =
        from.literal.kind == OperandKind::Float32 ? f_.numberOperand(static_cast<int64_t>(constant)) : from.literal;
    source.join = Join::Comma;
    const Operand operands[] = {defOperand(to), source};
    return emit(SynthOpcode::MovB64, operands);
  }
  const RegId word = slot.wordAt(offset);
  if (access.bytes == 8) {
    const RegId next = slot.wordAt(offset + 4);
    if (isConstant) {
      put(word, constant & UINT32_MAX);
      return put(next, constant >> 32);
    }
    const Operand operands[] = {pairOperand(Join::None), defOperand(word),
                                registerOperand(next, Role::Def, Join::Comma), useOperand(from.reg)};
    return emit(SynthOpcode::MovB64, operands);
  }
  if (access.bytes == 4) {
    if (isConstant) return put(word, constant & UINT32_MAX);
    const Operand operands[] = {defOperand(word), useOperand(from.reg)};
    return emit(truncation(32, bitsOf(from.reg)), operands);
  }
  Operand field = number(constant & (access.bytes == 1 ? 0xffu : 0xffffu));
  if (!isConstant) {
    RegId low = from.reg;
    if (!isComputable(low)) {
      low = makeBits(bitsOf(from.reg));
      const Operand operands[] = {defOperand(low), useOperand(from.reg)};
      emit(moveOf(bitsOf(low)), operands, false);
    }
    if (bitsOf(low) != 32) {
      const RegId whole = makeBits(32);
      const Operand operands[] = {defOperand(whole), useOperand(low)};
      emit(truncation(32, bitsOf(low)), operands, false);
      low = whole;
    }
    field = useOperand(low);
  }
  const Operand insert[] = {defOperand(word), field, useOperand(word),
                            number(static_cast<uint64_t>(offset % 4) * 8), number(access.bytes * 8u)};
  emit(SynthOpcode::BfiB32, insert);
}

void SlotCode::replace(const LocalAccess& access, const std::vector<LocalSlot>& slots) {
  at_ = access.at;
  if (const InstrId pragma = usedBytesMaskOf(module_, f_, at_); pragma.valid()) f_.erase(pragma);
  for (uint32_t k = 0; k < access.elements; ++k) {
    const int64_t offset = access.offset + int64_t{k} * access.bytes;
    const LocalSlot& slot = *LocalSlots::find(slots, offset);
    // The list of operands grows while instructions are put in.
    const auto operands = f_.operandsOf(f_[at_]);
    const auto element = access.elements > 1 || !access.isStore ? operands.subspan(access.firstElement + k, 1)
                                                                : PlainOperands(operands)[1];
    if (access.isStore)
      store(access, slot, offset, simple(access, {element.begin(), element.end()}));
    else
      load(access, slot, offset, element[0]);
  }
  f_.erase(at_);
}

}  // namespace ptxopt
