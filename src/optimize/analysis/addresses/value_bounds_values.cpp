// Bounds of values by what makes them: a part of ValueBounds, see value_bounds.h.
#include <algorithm>
#include <bit>

#include "analysis/addresses/value_bounds.h"
#include "analysis/values/plain_operands.h"
#include "ir/opcode_predicates.h"

namespace ptxopt {

ValueBound ValueBounds::ofValue(const Expr& n) {
  if (const InstrId id = evolution_.constantDefinition(n.reg(), n.value()); id.valid()) return ofConstant(id, n);
  const BlockId before = at_;
  ValueBound known = ofDefinition(n.reg(), n.value());
  at_ = before;
  if (known.isKnown()) return known;
  return ofRange(n.reg(), n.value());
}

// Constants of the launch.
ValueBound ValueBounds::ofConstant(InstrId id, const Expr& n) {
  const auto operands = f_.operandsOf(f_[id]);
  const OpcodeForm& form = module_.form(f_[id]);
  const IntegerRange range = ranges_.of(n.reg(), n.value());
  if (range.isConstant()) return exact(terms_.constant(range.smallest()));
  if (form.op == Op::Ld) {
    const auto parameter = std::ranges::find(f_.parameters, VariableId(operands[2].payload));
    const unsigned bits = info(form.type).bits;
    if (parameter == f_.parameters.end() || !isInteger(form.type) || bits > n.width) return unknown("parameter");
    TermParameter p;
    p.index = static_cast<uint32_t>(parameter - f_.parameters.begin());
    if (operands.size() == 4) p.offset = static_cast<uint32_t>(*immediate(f_, operands[3]));
    p.bytes = static_cast<uint8_t>(bits / 8);
    // The bits of the whole register are the same either way: most are signed numbers.
    p.isSigned = bits == n.width || isSignedType(form.type);
    return exact(terms_.parameter(p));
  }
  if (form.op != Op::Mov || operands[1].kind != OperandKind::SpecialRegister) return unknown("variable");
  const auto size = launchSizeOf(module_.text(NameId(operands[1].payload)));
  if (!size || n.width < 32) return ofRange(n.reg(), n.value());
  if (!size->isPlace) return exact(terms_.launchSize(*size));
  const TermId zero = terms_.constant(0);
  if (!size->isGrid && !range.isEmpty() && range.width() != 0 && range.most() < 1023)
    return {zero, terms_.constant(static_cast<int64_t>(range.most()))};
  return {zero, terms_.addConstant(terms_.launchSize({size->isGrid, false, size->component}), -1)};
}

// By the range of numbers that the value has whatever the launch, if that is a small one.
ValueBound ValueBounds::ofRange(RegId reg, ValueId value) {
  constexpr uint64_t kMostRange = 1u << 20;
  const IntegerRange range = ranges_.at(reg, value, at_);
  if (range.width() == 0 || range.isEmpty()) return unknown("not-followed");
  if (range.most() - range.least() <= kMostRange && range.most() <= INT64_MAX)
    return {terms_.constant(static_cast<int64_t>(range.least())),
            terms_.constant(static_cast<int64_t>(range.most()))};
  if (static_cast<uint64_t>(range.largest()) - static_cast<uint64_t>(range.smallest()) <= kMostRange)
    return {terms_.constant(range.smallest()), terms_.constant(range.largest())};
  return unknown("not-followed");
}

ValueBound ValueBounds::ofDefinition(RegId reg, ValueId value) {
  const LiveValue& v = intervals_[reg][value];
  if (v.kind == ValueKind::Entry) return unknown("uninitialized");
  at_ = slots_.blockAt(v.def);
  const ExprId e = evolution_.of(reg, value);
  if (!e.valid()) return unknown("no-integer");
  const Expr n = e_[e];
  if (n.kind != ExprKind::Value) return bound(e, NumberKind::Any);
  if (n.reg() != reg || n.value() != value) return bound(e, NumberKind::Any);
  if (v.kind == ValueKind::Phi) return ofPhi(reg, value, at_);
  const InstrId id = slots_.instructionAt(v.def);
  const Instruction& i = f_[id];
  if (!v.isPartial) return i.is(Instruction::Guarded) ? unknown("not-followed") : ofInstruction(id, n.width);
  // Under a guard: the new value or the old one.
  const PlainOperands operands(f_.operandsOf(i));
  if (!i.is(Instruction::Guarded) || operands.single(0) == nullptr || !operands.single(0)->isRegister())
    return unknown("not-followed");
  const ValueId old = intervals_[reg].valueIn(v.def);
  if (!old.valid()) return unknown("uninitialized");
  const BlockId here = at_;
  const ValueBound made = ofInstruction(id, n.width);
  at_ = here;
  return made.isKnown() ? join(made, bound(evolution_.seenFrom(reg, old, here), NumberKind::Any)) : made;
}

ValueBound ValueBounds::ofPhi(RegId reg, ValueId value, BlockId b) {
  const std::pair open(reg, value);
  if (std::ranges::find(open_, open) != open_.end()) return unknown("recurrence");
  open_.push_back(open);
  ValueBound all;
  bool isFirst = true;
  for (const BlockId p : cfg_.predecessors(b)) {
    if (!cfg_[p].reachable) continue;
    const ValueId source = evolution_.valueAtEnd(reg, p);
    const ExprId e = source.valid() ? evolution_.seenFrom(reg, source, p) : ExprId();
    at_ = p;
    const ValueBound from = e.valid() ? bound(e, NumberKind::Any) : unknown("uninitialized");
    all = isFirst ? from : join(all, from);
    isFirst = false;
    if (!all.isKnown()) break;
  }
  open_.pop_back();
  return all;
}

ValueBound ValueBounds::ofMask(const ValueBound& a, int64_t mask) {
  if (a.isExact()) return exact(terms_.mask(a.least, mask));
  const TermId zero = terms_.constant(0);
  if (mask >= 0) {
    const bool isBelow = a.isKnown() && isNeverNegative(a.least) && assumptions_->range(a.most).most <= mask;
    return {zero, isBelow ? a.most : terms_.constant(mask)};
  }
  if (!a.isKnown()) return {};
  // What is taken away is at most all bits that the mask lacks.
  return {terms_.addConstant(a.least, mask + 1), a.most};
}

// What scalar evolution has no expression for. The guard is not looked at.
ValueBound ValueBounds::ofInstruction(InstrId id, unsigned width) {
  const OpcodeForm& form = module_.form(f_[id]);
  const PlainOperands operands(f_.operandsOf(f_[id]));
  if (form.op == Op::Ld || form.op == Op::Atom) return unknown("loaded");
  if (form.is(effect::Call)) return unknown("call");
  const bool isDivision = form.op == Op::Div || form.op == Op::Rem;
  if ((form.effects != effect::Pure && !isDivision) || operands.size() < 2 || form.vector != 1 ||
      !isInteger(form.type) || info(form.type).bits != width || form.has(ModifierFlag::Saturate) ||
      form.has(ModifierFlag::Relu))
    return unknown("not-followed");
  const auto get = [&](std::size_t k, NumberKind kind) -> ValueBound {
    const Operand* const o = operands.single(k);
    if (o == nullptr) return {};
    if (const auto bits = immediate(f_, *o)) return bound(e_.constant(*bits, width), kind);
    if (!o->isRegister() || o->flags != 0) return {};
    const ExprId e = evolution_.read(o->reg(), id);
    return e.valid() && e_[e].width == width ? bound(e, kind) : ValueBound();
  };
  const auto number = [&](std::size_t k) -> std::optional<int64_t> {
    const Operand* const o = operands.single(k);
    if (o == nullptr) return std::nullopt;
    if (const auto bits = immediate(f_, *o)) return signedAt(*bits, width);
    if (!o->isRegister() || o->flags != 0) return std::nullopt;
    const ExprId e = evolution_.read(o->reg(), id);
    if (!e.valid() || !e_.isConstant(e)) return std::nullopt;
    return signedAt(e_[e].constant, e_[e].width);
  };
  // 32 bits wide, whatever is shifted.
  const auto amount = [&]() -> std::optional<int64_t> {
    const Operand* const o = operands.single(2);
    const auto bits = o == nullptr ? std::nullopt : immediate(f_, *o);
    return bits ? static_cast<int64_t>(static_cast<uint32_t>(*bits)) : number(2);
  };
  const TermId zero = terms_.constant(0);
  const bool isSigned = isSignedType(form.type);
  switch (form.op) {
    case Op::Mov: return get(1, NumberKind::Any);
    case Op::Selp:
    case Op::Add: {
      // One after the other: terms are numbered as they are made.
      const ValueBound a = get(1, NumberKind::Any), b = get(2, NumberKind::Any);
      return form.op == Op::Selp ? join(a, b) : add(a, b);
    }
    case Op::And: {
      const auto right = number(2), left = number(1);
      if (right || left) return ofMask(get(right ? 1 : 2, NumberKind::Any), right ? *right : *left);
      // At most each of them, where that is not negative.
      const ValueBound a = get(1, NumberKind::Unsigned);
      return a.isKnown() ? ValueBound{zero, a.most} : ValueBound{zero, get(2, NumberKind::Unsigned).most};
    }
    case Op::Or:
    case Op::Xor: {
      const ValueBound a = get(1, NumberKind::Unsigned), b = get(2, NumberKind::Unsigned);
      return {zero, terms_.add(a.most, b.most)};
    }
    case Op::Shl: {
      const auto by = amount();
      return by && *by >= 0 && *by < std::min<int64_t>(width, 32)
                 ? scale(get(1, NumberKind::Any), int64_t{1} << *by)
                 : unknown("shift");
    }
    case Op::Shr: {
      const auto by = amount();
      const ValueBound a = get(1, isSigned ? NumberKind::Signed : NumberKind::Unsigned);
      if (!by && a.isKnown() && isNeverNegative(a.least)) return {zero, a.most};
      if (!by || *by < 0 || *by >= static_cast<int64_t>(width)) return unknown("shift");
      const auto shifted = [&](TermId t) {
        const TermId s = terms_.shiftRight(t, static_cast<unsigned>(*by));
        if (!s.valid()) return s;
        const TermRange r = assumptions_->range(s);
        return r.least == r.most ? terms_.constant(static_cast<int64_t>(r.least)) : s;
      };
      return {shifted(a.least), shifted(a.most)};
    }
    case Op::Div:
    case Op::Rem: {
      const NumberKind kind = isSigned ? NumberKind::Signed : NumberKind::Unsigned;
      const ValueBound a = get(1, kind), b = get(2, kind);
      return ofQuotient(a, b, form.op == Op::Rem);
    }
    case Op::Mul: {
      const auto factor = number(2);
      if (form.half != ProductHalf::Hi || !factor || width != 32) return unknown("not-followed");
      const ValueBound a = get(1, isSigned ? NumberKind::Signed : NumberKind::Unsigned);
      const int64_t by = isSigned ? *factor : static_cast<int64_t>(static_cast<uint32_t>(*factor));
      const ValueBound all = scale(a, by);
      return {terms_.shiftRight(all.least, 32), terms_.shiftRight(all.most, 32)};
    }
    default: return unknown("not-followed");
  }
}

}  // namespace ptxopt
