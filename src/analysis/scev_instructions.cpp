#include "analysis/scev_instructions.h"

#include <algorithm>
#include <bit>

namespace ptxopt {
namespace {

// Whether `.word` is among the modifiers.
bool has(std::string_view opcode, std::string_view word) {
  for (std::size_t at = opcode.find(word); at != std::string_view::npos; at = opcode.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (at != 0 && opcode[at - 1] == '.' && (end == opcode.size() || opcode[end] == '.')) return true;
  }
  return false;
}

}  // namespace

// Moves of a special register that does not change, or of an address; loads of a kernel's parameters.
bool ScevInstructions::isLaunchConstant(InstrId id, uint64_t& key) const {
  const Instruction& i = s_.f_[id];
  const OpcodeForm& form = s_.module_.form(i);
  if (!i.isInstruction() || i.is(Instruction::Guarded) || form.row == nullptr || form.vector != 1) return false;
  const auto operands = s_.f_.operandsOf(i);
  if (form.row->key == "mov") {
    if (operands.size() != 2) return false;
    const Operand& o = operands[1];
    const bool isConstant = (o.kind == OperandKind::SpecialRegister && !o.is(Operand::VolatileRead)) ||
                            o.kind == OperandKind::Symbol ||
                            (o.kind == OperandKind::Variable && !s_.f_.variables[o.payload].isParameter);
    key = uint64_t{o.payload} << 8 | static_cast<uint64_t>(o.kind);
    return isConstant && o.flags == 0;
  }
  if (!s_.f_.isEntry || form.effects != effect::Read || !s_.module_.text(form.text).starts_with("ld.param."))
    return false;
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
  // Of what is narrower than the register the type says how it is extended.
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
  // Of 2^k-1 the lowest bits are left.
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
  const std::string_view opcode = s_.module_.text(form.text);
  if (has(opcode, "sat") || !isInteger(form.type) || !isInteger(form.sourceType) || form.vector != 1) return {};
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
  const auto opcode = [&](InstrId i) { return s_.module_.text(s_.module_.form(f[i]).text); };
  if (!opcode(low).starts_with("add.cc.") || !opcode(high).starts_with("addc.") || has(opcode(high), "cc"))
    return {};
  // The carry that `high` reads must be that of `low`.
  const ValueId carry = s_.intervals_[Function::kCarry].valueIn(s_.slots_[high]);
  if (!carry.valid() || s_.slots_.instructionAt(s_.intervals_[Function::kCarry][carry].def) != low) return {};
  const auto lowOperands = f.operandsOf(f[low]), highOperands = f.operandsOf(f[high]);
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
    if (s_.module_.form(f[a]).row->key != "mov" || unpack.size() != 4 || unpack[0].kind != OperandKind::Vector ||
        !unpack[1].isRegister() || !unpack[2].isRegister() || unpack[1].payload != lo.payload ||
        unpack[2].payload != hi.payload || lo.payload == hi.payload)
      return {};
    return source(a, unpack[3], 64);
  };
  const ExprId x = join(lowOperands[1], highOperands[1]), y = join(lowOperands[2], highOperands[2]);
  return x.valid() && y.valid() ? s_.e_.add(x, y) : ExprId();
}

ExprId ScevInstructions::result(InstrId id, RegId reg) {
  const Function& f = s_.f_;
  const Instruction& i = f[id];
  if (!i.isInstruction() || i.is(Instruction::Guarded)) return {};
  const OpcodeForm& form = s_.module_.form(i);
  if (form.row == nullptr) return {};
  uint64_t key = 0;
  if (isLaunchConstant(id, key)) return {};  // a plain Value
  const auto operands = f.operandsOf(i);
  const std::string_view base = form.row->base();
  const unsigned registerWidth = s_.widthOf(reg);
  if (base == "mov" && operands.size() == 4 && operands[0].isRegister() && registerWidth == 64)
    return carryPair(id);
  // What follows computes one register from two or more operands without groups.
  if (form.effects != effect::Pure || operands.size() < 2 || !operands[0].isRegister()) return {};
  if (operands[0].role != Role::Def || form.vector != 1) return {};
  const std::string_view opcode = s_.module_.text(form.text);
  if (base == "cvt") return convert(id, form, operands[1], registerWidth);
  if (base == "cvta") {
    const bool isSame = opcode.starts_with("cvta.global.") || opcode.starts_with("cvta.to.global.");
    return isSame && registerWidth == 64 ? source(id, operands[1], 64) : ExprId();
  }
  if (!isInteger(form.type) || has(opcode, "sat")) return {};
  const unsigned width = info(form.type).bits;
  const bool isWide = (base == "mul" || base == "mad") && has(opcode, "wide");
  if (registerWidth != (isWide ? 2 * width : width)) return {};
  const auto get = [&](std::size_t k) { return source(id, operands[k], width); };

  if (base == "mov") return operands.size() == 2 ? get(1) : ExprId();
  if (base == "neg" || base == "not") {
    const ExprId a = get(1);
    if (!a.valid()) return {};
    return base == "neg" ? s_.e_.negate(a) : s_.e_.addConstant(s_.e_.negate(a), ~uint64_t{0});
  }
  if (operands.size() < 3) return {};
  if (isWide) {
    const ExprId product = wide(id, form, operands[1], operands[2]);
    if (base == "mul" || !product.valid()) return product;
    const ExprId addend = operands.size() == 4 ? source(id, operands[3], 2 * width) : ExprId();
    return addend.valid() ? s_.e_.add(product, addend) : addend;
  }
  const bool shifts = base == "shl" || base == "shr";
  const ExprId a = get(1), b = source(id, operands[2], shifts ? 32 : width);
  if (!a.valid() || !b.valid()) return {};
  if (operands.size() == 3) {
    if (base == "add") return s_.e_.add(a, b);
    if (base == "sub") return s_.e_.subtract(a, b);
    if (base == "mul") return has(opcode, "lo") ? s_.e_.multiply(a, b) : ExprId();
    if (base == "shl") return shiftLeft(a, b);
    if (base == "shr")
      return isSignedType(form.type) && !s_.range(a).isNeverNegative() ? ExprId() : shiftRight(a, b);
    if (base == "and") return bitAnd(a, b);
    if (base == "or") return bitOr(a, b);
    if (base == "min" || base == "max") {
      const bool isSigned = isSignedType(form.type);
      return s_.e_.minMax(base == "min" ? (isSigned ? ExprKind::SignedMin : ExprKind::UnsignedMin)
                                        : (isSigned ? ExprKind::SignedMax : ExprKind::UnsignedMax),
                          a, b);
    }
    if (base == "div" || base == "rem") {
      // Signed ones are unsigned ones where neither side can be negative.
      if (isSignedType(form.type) && !(s_.range(a).isNeverNegative() && s_.range(b).isNeverNegative())) return {};
      return base == "div" ? s_.e_.divide(a, b) : s_.e_.remainder(a, b);
    }
    return {};
  }
  if (operands.size() != 4) return {};
  if (base == "mad" && has(opcode, "lo")) {
    const ExprId c = get(3);
    return c.valid() ? s_.e_.add(s_.e_.multiply(a, b), c) : ExprId();
  }
  if (base == "bfe" && !isSignedType(form.type)) {
    const auto at = immediate(f, operands[2]), length = immediate(f, operands[3]);
    if (!at || !length || *at >= width || *length == 0 || *length >= width) return {};
    const ExprId moved = s_.e_.divide(a, s_.e_.constant(uint64_t{1} << *at, width));
    return *at + *length >= width ? moved
                                  : s_.zeroExtend(s_.e_.truncate(moved, static_cast<unsigned>(*length)), width);
  }
  return {};
}

}  // namespace ptxopt
