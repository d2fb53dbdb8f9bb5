// Ranges at the instruction are asked first, then packs, and then scalar evolution. The low half is the source of an
// extension or pack where that can be named, and otherwise a conversion into a temporary. The guess whether ptxas
// unrolls is kept for each loop.
#include "passes/arithmetic/wide/narrow_values.h"

#include "analysis/values/scev_instructions.h"
#include "ir/register_types.h"

namespace ptxopt {

Narrow NarrowValues::fits(const IntegerRange& r) {
  if (r.width() != 64 || r.isEmpty()) return {};
  return {r.smallest() >= INT32_MIN && r.largest() <= INT32_MAX, r.most() <= UINT32_MAX};
}

Narrow NarrowValues::of(const Operand& o, InstrId at) {
  if (const auto c = immediate(f_, o)) return fits(IntegerRange::constant(64, *c));
  // Its lower half is read by an integer instruction, which takes no .f64 register.
  if (!isIntegerRegister(f_, o, 64)) return {};
  const ValueId v = ranges_.valueRead(o.reg(), at);
  if (!v.valid()) return {};
  const Narrow n = fits(ranges_.at(o.reg(), v, cfg_.blockOf(at)));
  if (n.any()) return n;
  if (const InstrId id = origin(o, at); id.valid() && widened(id) != nullptr && form(id).op == Op::Mov) {
    // A pack: of a number and what is above it.
    const auto operands = f_.operandsOf(f_[id]);
    const ValueId high = ranges_.valueRead(operands[3].reg(), id);
    const IntegerRange r = high.valid() ? ranges_.of(operands[3].reg(), high) : IntegerRange();
    return {false, r.isConstant() && r.least() == 0};
  }
  ScalarEvolution& evolution = analyses_.scalarEvolution();
  const ExprId e = evolution.read(o.reg(), at);
  return e.valid() ? fits(evolution.range(e)) : Narrow();
}

std::optional<int64_t> NarrowValues::constant(const Operand& o, InstrId at) {
  const ValueId v = ranges_.valueRead(o.reg(), at);
  if (!v.valid()) return {};
  const IntegerRange r = ranges_.at(o.reg(), v, cfg_.blockOf(at));
  return r.width() == 64 && r.isConstant() ? std::optional(static_cast<int64_t>(r.least())) : std::nullopt;
}

Narrow NarrowValues::made(const Operand& result, InstrId at) {
  const ValueKey k = values_.written(result.reg(), at);
  return k.valid() ? fits(ranges_.at(values_.reg(k), values_.value(k), cfg_.blockOf(at))) : Narrow();
}

// The instruction that computes what `at` reads there, through copies.
InstrId NarrowValues::origin(const Operand& o, InstrId at) const {
  RegId reg = o.reg();
  InstrId id;
  for (unsigned i = 0; i < kMostCopies; ++i) {
    const ValueKey k = values_.read(reg, at);
    if (!k.valid() || !values_.definition(k).valid()) return {};
    id = at = values_.definition(k);
    const auto operands = f_.operandsOf(f_[id]);
    if (!isMove64(form(id))) break;
    if (operands.size() != 2 || !operands[1].isRegister() || operands[1].flags != 0) break;
    reg = operands[1].reg();
  }
  return id;
}

const Operand* NarrowValues::widened(InstrId id) const {
  const OpcodeForm& opcode = form(id);
  const auto operands = f_.operandsOf(f_[id]);
  const Operand* source = nullptr;
  if (isExtension(opcode)) {
    if (operands.size() == 2) source = &operands[1];
  } else if (opcode.isExactly(Op::Mov, ScalarType::b64)) {
    if (operands.size() == 4 && operands[1].kind == OperandKind::Vector && operands[3].isRegister() &&
        operands[3].flags == 0)
      source = &operands[2];
  }
  if (source == nullptr || !source->isRegister() || source->flags != 0) return nullptr;
  return info(f_.registers[source->payload].type).bits == 32 ? source : nullptr;
}

Unrolling NarrowValues::unrollingOf(const Operand& o, InstrId at) {
  const Loops& loops = analyses_.loops();
  const LoopId loop = loops.of(cfg_.blockOf(at));
  if (!o.isRegister() || !loop.valid() || !loops.isInnermost(loop) || extension(o, at).valid())
    return Unrolling::Unlikely;
  ScalarEvolution& evolution = analyses_.scalarEvolution();
  const ExprId e = evolution.read(o.reg(), at);
  if (!e.valid() || !evolution.expressions().isRecurrence(e, loop)) return Unrolling::Unlikely;
  std::optional<Unrolling>& known = unrolling_[loop.value];
  if (!known) known = expectedUnrolling(f_, context_, loop);
  return *known;
}

InstrId NarrowValues::extension(const Operand& o, InstrId at) const {
  if (!o.isRegister()) return {};
  const InstrId id = origin(o, at);
  return id.valid() && form(id).op == Op::Cvt && widened(id) != nullptr ? id : InstrId();
}

Operand NarrowValues::lower(const Operand& o, InstrId at, InstrId place, Edits& edits) const {
  if (const auto c = immediate(f_, o)) return Edits::number(static_cast<int32_t>(*c));
  if (const InstrId id = origin(o, at); id.valid())
    // Where a pack is in an .f32 register, its lower half is read.
    if (const Operand* source = widened(id); source != nullptr && isIntegerRegister(f_, *source, 32)) {
      const ValueKey k = values_.read(source->reg(), id);
      bool extends = false;
      if (k.valid() && mayRead(k, place, extends)) return useOperand(source->reg());
    }
  const Operand half = edits.temporary(ScalarType::b32);
  edits.insert(place, SynthOpcode::CvtU32U64, {half, useOperand(o.reg())});
  return Edits::asUse(half);
}

}  // namespace ptxopt
