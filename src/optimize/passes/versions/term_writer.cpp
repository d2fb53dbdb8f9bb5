// Each term is written once and its register kept. Tests give 32-bit numbers that are negative where the condition
// fails, so that they combine bit by bit and one setp decides; minimum and maximum use the sign of the difference.
#include "passes/versions/term_writer.h"

#include <algorithm>
#include <bit>

namespace ptxopt {
namespace {

// A load of that many bytes of a parameter, extended by zeros. A kernel whose bounds have a parameter loads it.
OpcodeId loadOf(const Module& module, unsigned bytes) {
  for (std::size_t o = 0; o < module.opcodes.size(); ++o) {
    const OpcodeForm& form = module.opcodes[o];
    if (form.op == Op::Ld && form.space == StateSpace::Param && form.hasOnly(field::Space) && form.typeCount == 1 &&
        !form.isEscaped && form.effects == effect::Read && isInteger(form.type) &&
        info(form.type).bits == 8 * bytes && (bytes >= 4 || !isSignedType(form.type)))
      return OpcodeId(o);
  }
  return {};
}

NameId sizeName(const Module& module, const LaunchSize& size) {
  if (!size.isGrid) return module.synth.ntid[size.component];
  if (size.component == 0) return module.synth.nctaid;
  return module.names.find(size.component == 1 ? "%nctaid.y" : "%nctaid.z");
}

}  // namespace

bool TermWriter::canWrite(const Module& module, const BoundTerms& terms, TermId t) {
  const Term& n = terms[t];
  const auto can = [&](TermId of) { return canWrite(module, terms, of); };
  switch (n.kind) {
    case TermKind::Constant: return true;
    case TermKind::Size: return sizeName(module, n.size).valid();
    case TermKind::Parameter:
      return (n.parameter.bytes >= 4 || !n.parameter.isSigned) && loadOf(module, n.parameter.bytes).valid();
    case TermKind::Sum: return std::ranges::all_of(terms.parts(t), [&](const TermPart& p) { return can(p.term); });
    case TermKind::Product:
    case TermKind::Min:
    case TermKind::Max: return can(n.left) && can(n.right);
    case TermKind::ShiftRight:
    case TermKind::And: return can(n.left);
  }
  return false;
}

RegId TermWriter::emit(OpcodeId opcode, ScalarType type, std::initializer_list<Operand> sources) {
  const RegId to = f_.makeRegister(type);
  std::vector<Operand> operands{defOperand(to)};
  operands.insert(operands.end(), sources);
  f_.insert(where_, opcode, operands);
  return to;
}

RegId TermWriter::combine(SynthOpcode opcode, ScalarType type, RegId a, RegId b) {
  return emit(opcode, type, {useOperand(a), useOperand(b)});
}

RegId TermWriter::number(int64_t c) { return emit(SynthOpcode::MovB64, ScalarType::b64, {f_.numberOperand(c)}); }

RegId TermWriter::write(TermId t) {
  if (const auto known = made_.find(t); known != made_.end()) return known->second;
  return made_[t] = make(t);
}

// Holds 4 bytes or less.
RegId TermWriter::narrow(TermId t) {
  if (const auto known = narrow_.find(t); known != narrow_.end()) return known->second;
  const Term& n = terms_[t];
  RegId to;
  if (n.kind == TermKind::Size) {
    to = emit(
        SynthOpcode::MovU32, ScalarType::b32,
        {{.kind = OperandKind::SpecialRegister, .join = Join::Comma, .payload = sizeName(module_, n.size).value}});
  } else {
    const TermParameter& p = n.parameter;
    const Operand variable{.kind = OperandKind::Variable, .payload = f_.parameters[p.index].value};
    const bool isWide = p.bytes == 8;
    const OpcodeId opcode = loadOf(module_, p.bytes);
    const auto memory = [](uint32_t inside) {
      return Operand{.kind = OperandKind::Memory, .join = Join::Comma, .payload = inside};
    };
    const ScalarType type = isWide ? ScalarType::b64 : ScalarType::b32;
    to = p.offset == 0 ? emit(opcode, type, {memory(1), variable})
                       : emit(opcode, type,
                              {memory(2), variable, integerOperand(static_cast<int32_t>(p.offset), Join::Plus)});
  }
  return narrow_[t] = to;
}

// Whether the register of 32 bits is a signed number.
bool TermWriter::isNarrow(TermId t) const {
  const Term& n = terms_[t];
  return n.kind == TermKind::Size || (n.kind == TermKind::Parameter && n.parameter.bytes <= 4 &&
                                      (n.parameter.isSigned || n.parameter.bytes < 4));
}

RegId TermWriter::make(TermId t) {
  const Term& n = terms_[t];
  // One after the other, here and below: a compiler may compute the arguments of a call in any order.
  const auto two = [&](SynthOpcode opcode) {
    const RegId left = write(n.left), right = write(n.right);
    return combine(opcode, ScalarType::b64, left, right);
  };
  switch (n.kind) {
    case TermKind::Constant: return number(n.constant);
    case TermKind::Size: return emit(SynthOpcode::CvtU64U32, ScalarType::b64, {useOperand(narrow(t))});
    case TermKind::Parameter: {
      if (n.parameter.bytes == 8) return narrow(t);
      const SynthOpcode extend = n.parameter.isSigned ? SynthOpcode::CvtS64S32 : SynthOpcode::CvtU64U32;
      return emit(extend, ScalarType::b64, {useOperand(narrow(t))});
    }
    case TermKind::Sum: return sum(t);
    case TermKind::Product: {
      if (!isNarrow(n.left) || !isNarrow(n.right)) return two(SynthOpcode::MulLoS64);
      const RegId left = narrow(n.left), right = narrow(n.right);
      return combine(SynthOpcode::MulWideS32, ScalarType::b64, left, right);
    }
    case TermKind::Min:
    case TermKind::Max: {
      // The difference where the right one is less, otherwise 0.
      const RegId left = write(n.left), right = write(n.right);
      const RegId difference = combine(SynthOpcode::SubS64, ScalarType::b64, right, left);
      const RegId sign = emit(SynthOpcode::ShrS64, ScalarType::b64, {useOperand(difference), integerOperand(63)});
      const RegId less = combine(SynthOpcode::AndB64, ScalarType::b64, difference, sign);
      return n.kind == TermKind::Min ? combine(SynthOpcode::AddS64, ScalarType::b64, left, less)
                                     : combine(SynthOpcode::SubS64, ScalarType::b64, right, less);
    }
    case TermKind::ShiftRight:
      return emit(SynthOpcode::ShrS64, ScalarType::b64,
                  {useOperand(write(n.left)), integerOperand(static_cast<int32_t>(n.constant))});
    case TermKind::And:
      return emit(SynthOpcode::AndB64, ScalarType::b64, {useOperand(write(n.left)), f_.numberOperand(n.constant)});
  }
  return {};
}

RegId TermWriter::sum(TermId t) {
  RegId all;
  const auto scaled = [&](const TermPart& p) {
    const auto size = static_cast<uint64_t>(p.factor < 0 ? -p.factor : p.factor);
    const RegId x = write(p.term);
    if (size == 1) return x;
    if (std::has_single_bit(size))
      return emit(SynthOpcode::ShlB64, ScalarType::b64, {useOperand(x), integerOperand(std::countr_zero(size))});
    return emit(SynthOpcode::MulLoS64, ScalarType::b64,
                {useOperand(x), f_.numberOperand(static_cast<int64_t>(size))});
  };
  const std::vector<TermPart> parts(terms_.parts(t).begin(), terms_.parts(t).end());
  for (const bool isSubtracted : {false, true})
    for (const TermPart& p : parts) {
      if ((p.factor < 0) != isSubtracted) continue;
      const RegId x = scaled(p);
      if (!isSubtracted)
        all = all.valid() ? combine(SynthOpcode::AddS64, ScalarType::b64, all, x) : x;
      else
        all = all.valid() ? combine(SynthOpcode::SubS64, ScalarType::b64, all, x)
                          : emit(SynthOpcode::NegS64, ScalarType::b64, {useOperand(x)});
    }
  const int64_t c = terms_[t].constant;
  return c == 0 ? all : emit(SynthOpcode::AddS64, ScalarType::b64, {useOperand(all), f_.numberOperand(c)});
}

RegId TermWriter::upperHalf(RegId wide) {
  const RegId moved = emit(SynthOpcode::ShrU64, ScalarType::b64, {useOperand(wide), integerOperand(32)});
  return emit(SynthOpcode::CvtU32U64, ScalarType::b32, {useOperand(moved)});
}

RegId TermWriter::isBelow(TermId a, TermId b) {
  if (terms_.number(b) == 0) return upperHalf(write(a));
  if (const auto c = terms_.number(b))
    return upperHalf(emit(SynthOpcode::AddS64, ScalarType::b64, {useOperand(write(a)), f_.numberOperand(-*c)}));
  const RegId left = write(a), right = write(b);
  return upperHalf(combine(SynthOpcode::SubS64, ScalarType::b64, left, right));
}

RegId TermWriter::isBeyond(const std::vector<TermId>& all, unsigned bits) {
  RegId upper;
  for (const TermId t : all) upper = upper.valid() ? either(upper, upperHalf(write(t))) : upperHalf(write(t));
  // The addition carries a bit that is too high into the sign, or the sign was there already.
  const auto added = static_cast<int32_t>((uint32_t{1} << 31) - (uint32_t{1} << (bits - 32)));
  return either(upper, emit(SynthOpcode::AddS32, ScalarType::b32, {useOperand(upper), integerOperand(added)}));
}

RegId TermWriter::holds(RegId failed) {
  return emit(SynthOpcode::SetpGeS32, ScalarType::pred, {useOperand(failed), integerOperand(0)});
}

}  // namespace ptxopt
