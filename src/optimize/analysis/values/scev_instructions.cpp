// One function for each kind of instruction gives the expression of its result, or none. Signed operations count as
// unsigned ones where the ranges show that neither side is negative; two 32-bit additions with carry are one of 64
// bits.
#include "analysis/values/scev_instructions.h"

#include <bit>
#include <utility>

#include "analysis/values/plain_operands.h"
#include "ir/opcode_predicates.h"

namespace ptxopt {
// Moves of a special register that does not change, or of an address; loads of a kernel's parameters.
bool ScevInstructions::isLaunchConstant(InstrId id, uint64_t& key) const {
  const Instruction& i = s_.f_[id];
  const OpcodeForm& form = s_.module_.form(i);
  if (!i.isInstruction() || (form.op != Op::Mov && form.op != Op::Ld)) return false;
  if (i.is(Instruction::Guarded) || form.vector != 1) return false;
  const auto operands = s_.f_.operandsOf(i);
  const bool isNamed = !s_.f_.hidesNames;  // the same everywhere
  if (form.op == Op::Mov) {
    if (operands.size() != 2) return false;
    const Operand& o = operands[1];
    const auto isVariable = [&](const Variable& v) { return !v.isParameter && !v.isNested; };
    const bool isConstant =
        (o.kind == OperandKind::SpecialRegister && !o.is(Operand::VolatileRead) && !s_.f_.hidesSpecialRegisters) ||
        (o.kind == OperandKind::Symbol && isNamed) ||
        (o.kind == OperandKind::Variable && isNamed && isVariable(s_.f_.variables[o.payload]));
    key = uint64_t{o.payload} << 8 | static_cast<uint64_t>(o.kind);
    return isConstant && o.flags == 0;
  }
  if (!isNamed || !s_.f_.isEntry || form.effects != effect::Read || !isParameterLoad(form)) return false;
  // ld.param.u64 d, [parameter+offset]
  if (operands.size() < 3 || operands[1].kind != OperandKind::Memory || operands.size() > 4 ||
      operands[2].kind != OperandKind::Variable || !s_.f_.variables[operands[2].payload].isParameter)
    return false;
  uint64_t offset = 0;
  if (operands.size() == 4) {
    const auto bits = immediate(s_.f_, operands[3]);
    if (!bits || operands[3].join != Join::Plus || *bits >= 1u << 16) return false;
    offset = *bits;
  }
  // For what is narrower than the register, the type says how it is extended.
  key = uint64_t{1} << 55 | uint64_t{static_cast<uint8_t>(form.type)} << 45 | (offset & 0xffff) << 29 |
        (operands[2].payload & 0x1fffffff);
  return operands[2].payload < 0x20000000;
}

ExprId ScevInstructions::source(InstrId id, const Operand& o, unsigned width) {
  if (const auto bits = immediate(s_.f_, o)) return s_.e_.constant(*bits, width);
  if (!o.isRegister() || o.flags != 0 || s_.widthOf(o.reg()) != width) return {};
  return s_.read(o.reg(), id);
}

ExprId ScevInstructions::shiftLeft(ExprId a, ExprId amount) {
  if (!s_.e_.isConstant(amount)) return {};
  const unsigned width = s_.e_[a].width;
  const uint64_t n = s_.e_[amount].constant;
  return n >= width ? s_.e_.constant(0, width) : s_.e_.scale(a, uint64_t{1} << n);
}

ExprId ScevInstructions::shiftRight(ExprId a, ExprId amount) {
  if (!s_.e_.isConstant(amount)) return {};
  const unsigned width = s_.e_[a].width;
  const uint64_t n = s_.e_[amount].constant;
  if (n >= width) return s_.e_.constant(0, width);
  return s_.e_.divide(a, s_.e_.constant(uint64_t{1} << n, width));
}

ExprId ScevInstructions::bitAnd(ExprId a, ExprId b) {
  if (s_.e_.isConstant(a)) std::swap(a, b);
  if (!s_.e_.isConstant(b)) return {};
  const unsigned width = s_.e_[a].width;
  const uint64_t mask = s_.e_[b].constant;
  if (s_.e_.isConstant(a)) return s_.e_.constant(s_.e_[a].constant & mask, width);
  if (mask == 0) return b;
  if (mask == maskTo(~uint64_t{0}, width)) return a;
  // A mask of 2^k-1 leaves the lowest bits.
  if (!std::has_single_bit(mask + 1)) return {};
  return s_.zeroExtend(s_.e_.truncate(a, static_cast<unsigned>(std::bit_width(mask))), width);
}

// A sum where no bit is set in both.
ExprId ScevInstructions::bitOr(ExprId a, ExprId b) {
  for (int k = 0; k < 2; ++k, std::swap(a, b)) {
    const IntegerRange low = s_.range(b);
    const unsigned zeros = s_.e_.trailingZeros(a);
    if (zeros >= s_.e_[a].width) return b;
    if (low.width() != 0 && !low.isEmpty() && low.most() >> zeros == 0) return s_.e_.add(a, b);
  }
  return {};
}

ExprId ScevInstructions::convert(InstrId id, const OpcodeForm& form, const Operand& from, unsigned registerWidth) {
  if (form.has(ModifierFlag::Saturate) || !isInteger(form.type) || !isInteger(form.sourceType)) return {};
  const unsigned to = info(form.type).bits, source = info(form.sourceType).bits;
  ExprId a;
  if (from.isRegister()) {
    const unsigned width = s_.widthOf(from.reg());
    if (width < source || from.flags != 0) return {};
    a = s_.read(from.reg(), id);
    if (!a.valid()) return {};
    a = s_.e_.truncate(a, source);
  } else if (const auto bits = immediate(s_.f_, from)) {
    a = s_.e_.constant(*bits, source);
  } else {
    return {};
  }
  if (to <= source)
    a = s_.e_.truncate(a, to);
  else
    a = isSignedType(form.sourceType) ? s_.signExtend(a, to) : s_.zeroExtend(a, to);
  if (registerWidth <= to) return registerWidth == to ? a : ExprId();
  return isSignedType(form.type) ? s_.signExtend(a, registerWidth) : s_.zeroExtend(a, registerWidth);
}

ExprId ScevInstructions::wide(InstrId id, const OpcodeForm& form, const Operand& a, const Operand& b) {
  const unsigned width = info(form.type).bits;
  const ExprId x = source(id, a, width), y = source(id, b, width);
  if (!x.valid() || !y.valid()) return {};
  const bool isSigned = isSignedType(form.type);
  const auto extend = [&](ExprId e) {
    return isSigned ? s_.signExtend(e, 2 * width) : s_.zeroExtend(e, 2 * width);
  };
  return s_.e_.multiply(extend(x), extend(y));
}

// `mov.b64 d, {lo, hi}` of add.cc and addc, which add the halves of two 64-bit numbers.
ExprId ScevInstructions::carryPair(InstrId id) {
  const Function& f = s_.f_;
  const auto operands = f.operandsOf(f[id]);
  if (operands.size() != 4 || operands[1].kind != OperandKind::Vector || operands[1].inside() != 2) return {};
  const auto definition = [&](const Operand& o, InstrId at) -> InstrId {
    return o.isRegister() && o.flags == 0 ? s_.ranges_.definitionRead(o.reg(), at) : InstrId();
  };
  const InstrId low = definition(operands[2], id), high = definition(operands[3], id);
  if (!low.valid() || !high.valid()) return {};
  const OpcodeForm &lowForm = s_.module_.form(f[low]), &highForm = s_.module_.form(f[high]);
  if (lowForm.op != Op::Add || !lowForm.has(ModifierFlag::CarryOut)) return {};
  if (highForm.op != Op::Addc || highForm.has(ModifierFlag::CarryOut)) return {};
  // The carry that `high` reads must be that of `low`.
  const ValueId carry = s_.intervals_[Function::kCarry].valueIn(s_.slots_[high]);
  if (!carry.valid() || s_.slots_.instructionAt(s_.intervals_[Function::kCarry][carry].def) != low) return {};
  const PlainOperands lows(f.operandsOf(f[low])), highs(f.operandsOf(f[high]));
  // Two halves: of one unpacked register, of constants, or a number and zero.
  const auto join = [&](const Operand& lo, const Operand& hi) -> ExprId {
    const auto loBits = immediate(f, lo), hiBits = immediate(f, hi);
    if (loBits && hiBits) return s_.e_.constant(*hiBits << 32 | (*loBits & 0xffffffff), 64);
    if (hiBits && maskTo(*hiBits, 32) == 0) {
      const ExprId a = source(low, lo, 32);
      return a.valid() ? s_.zeroExtend(a, 64) : a;
    }
    const InstrId a = definition(lo, low), b = definition(hi, high);
    if (!a.valid() || a != b) return {};
    const auto unpack = f.operandsOf(f[a]);
    if (s_.module_.form(f[a]).op != Op::Mov || unpack.size() != 4 || unpack[0].kind != OperandKind::Vector ||
        !unpack[1].isRegister() || !unpack[2].isRegister() || unpack[1].payload != lo.payload ||
        unpack[2].payload != hi.payload || lo.payload == hi.payload)
      return {};
    return source(a, unpack[3], 64);
  };
  ExprId sum;
  for (const std::size_t k : {1, 2}) {
    const Operand *const lo = lows.single(k), *const hi = highs.single(k);
    const ExprId e = lo != nullptr && hi != nullptr ? join(*lo, *hi) : ExprId();
    if (!e.valid()) return {};
    sum = k == 1 ? e : s_.e_.add(sum, e);
  }
  return sum;
}

ExprId ScevInstructions::ofTwo(const OpcodeForm& form, ExprId a, ExprId b) {
  const bool isSigned = isSignedType(form.type);
  // Signed ones are unsigned ones where neither side can be negative.
  const auto mayBeNegative = [&] {
    return isSigned && !(s_.range(a).isNeverNegative() && s_.range(b).isNeverNegative());
  };
  switch (form.op) {
    case Op::Add: return s_.e_.add(a, b);
    case Op::Sub: return s_.e_.subtract(a, b);
    case Op::Mul: return form.half == ProductHalf::Lo ? s_.e_.multiply(a, b) : ExprId();
    case Op::Shl: return shiftLeft(a, b);
    case Op::Shr: return isSigned && !s_.range(a).isNeverNegative() ? ExprId() : shiftRight(a, b);
    case Op::And: return bitAnd(a, b);
    case Op::Or: return bitOr(a, b);
    case Op::Min: return s_.e_.minMax(isSigned ? ExprKind::SignedMin : ExprKind::UnsignedMin, a, b);
    case Op::Max: return s_.e_.minMax(isSigned ? ExprKind::SignedMax : ExprKind::UnsignedMax, a, b);
    case Op::Div: return mayBeNegative() ? ExprId() : s_.e_.divide(a, b);
    case Op::Rem: return mayBeNegative() ? ExprId() : s_.e_.remainder(a, b);
    default: return {};
  }
}

ExprId ScevInstructions::result(InstrId id, RegId reg) {
  const Function& f = s_.f_;
  const Instruction& i = f[id];
  if (!i.isInstruction() || i.is(Instruction::Guarded)) return {};
  const OpcodeForm& form = s_.module_.form(i);
  if (form.op == Op::Unknown) return {};
  uint64_t key = 0;
  if (isLaunchConstant(id, key)) return {};  // a plain Value
  const auto operands = f.operandsOf(i);
  const unsigned registerWidth = s_.widthOf(reg);
  if (form.op == Op::Mov && operands.size() == 4 && operands[0].isRegister() && registerWidth == 64)
    return carryPair(id);
  // What follows computes one register from two or more operands without groups and expressions.
  if (form.effects != effect::Pure || operands.size() < 2 || !operands[0].isRegister()) return {};
  if (operands[0].role != Role::Def || form.vector != 1) return {};
  const bool converts = form.op == Op::Cvt || form.op == Op::Cvta;
  // min.relu.s32: negative results are 0.
  if (!converts && (!isInteger(form.type) || form.has(ModifierFlag::Saturate) || form.has(ModifierFlag::Relu)))
    return {};
  if (!PlainOperands::areSingle(operands)) return {};  // of `10 + 4` the first entry is 10
  if (form.op == Op::Cvt) return convert(id, form, operands[1], registerWidth);
  if (form.op == Op::Cvta)
    return isGlobalConversion(form) && registerWidth == 64 ? source(id, operands[1], 64) : ExprId();
  const unsigned width = info(form.type).bits;
  const bool isWide = (form.op == Op::Mul || form.op == Op::Mad) && form.half == ProductHalf::Wide;
  if (registerWidth != (isWide ? 2 * width : width)) return {};
  const auto get = [&](std::size_t k) { return source(id, operands[k], width); };

  if (form.op == Op::Mov) return operands.size() == 2 ? get(1) : ExprId();
  if (form.op == Op::Neg || form.op == Op::Not) {
    const ExprId a = get(1);
    if (!a.valid()) return {};
    return form.op == Op::Neg ? s_.e_.negate(a) : s_.e_.addConstant(s_.e_.negate(a), ~uint64_t{0});
  }
  if (operands.size() < 3) return {};
  if (isWide) {
    const ExprId product = wide(id, form, operands[1], operands[2]);
    if (form.op == Op::Mul || !product.valid()) return product;
    const ExprId addend = operands.size() == 4 ? source(id, operands[3], 2 * width) : ExprId();
    return addend.valid() ? s_.e_.add(product, addend) : addend;
  }
  const bool shifts = form.op == Op::Shl || form.op == Op::Shr;
  const ExprId a = get(1), b = source(id, operands[2], shifts ? 32 : width);
  if (!a.valid() || !b.valid()) return {};
  if (operands.size() == 3) return ofTwo(form, a, b);
  if (operands.size() != 4) return {};
  if (form.op == Op::Mad && form.half == ProductHalf::Lo) {
    const ExprId c = get(3);
    return c.valid() ? s_.e_.add(s_.e_.multiply(a, b), c) : ExprId();
  }
  if (form.op == Op::Bfe && !isSignedType(form.type)) {
    const auto at = immediate(f, operands[2]), length = immediate(f, operands[3]);
    if (!at || !length || *at >= width || *length == 0 || *length >= width) return {};
    const ExprId moved = s_.e_.divide(a, s_.e_.constant(uint64_t{1} << *at, width));
    return *at + *length >= width ? moved
                                  : s_.zeroExtend(s_.e_.truncate(moved, static_cast<unsigned>(*length)), width);
  }
  return {};
}

}  // namespace ptxopt
