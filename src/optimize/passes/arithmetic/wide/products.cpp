// Products of extended numbers as mul.wide.
//
// Product:      shl.b64 d, x, c ; mul.lo.s64 d, x, y ; mad.lo.s64 d, x, y, z  with x, and y if it is not a constant,
//               extended in the same way from 32 bits, becomes  mul.wide.s32 d, x', y'  and an addition; mad.wide
//               is taken apart the same way. The product of 64 bits holds all that of 32 by 32, so both are the
//               same. A product of 64 bits is four instructions for ptxas, a shift that an addition reads two: LEA
//               and LEA.HI.X. What is one instruction then, product_uses.h says. A product of two registers that
//               loops add in each iteration becomes its halves, mul.lo and mul.hi.
// Addition:     add.s64 d, x, y  with x extended becomes  mul.wide t, x', 1 ; add.s64 d, y, t: one IMAD.WIDE
//               instead of two instructions and a sign. Modulo two to the 64 the sum is what it was.
// Declines:     trivial (by 0 or 1), float-register (the result of a shift is in an .f64 register), shift-out (32
//               or more), constant (none of 32 bits of the kind), not-extended, mixed-signs, low-half-only
//               (addresses of shared memory, truncations: ptxas computes the lower half only), addend-extended (of
//               mad.wide whose product is not uniform: the addend's upper half would be made to be added), pressure
//               (a loop without a register for the factor), loop-counter (of 64 bits, in a loop that ptxas unrolls: it
//               adds constants for the copies of an iteration); of shifts and additions: factor-alone (one instruction
//               less for one that sets the factor), uniform-addend (it would be moved); of additions: sum-of-three
//               (one instruction adds two), loop-step, offset (accesses of sm_75 add that), parameter (from sm_90 on it
//               would have to be loaded first), extension-kept (something else reads it, and an addition is one
//               instruction), no-sign (a zero-extended number and a pair of registers, where an addition is two
//               instructions). For products of sums see distribution.cpp.
#include "passes/arithmetic/wide/products.h"

#include <algorithm>

#include "analysis/values/scev_instructions.h"
#include "ir/register_types.h"
#include "passes/util/missed_remarks.h"
#include "target/target.h"

namespace ptxopt {
namespace {

std::span<const Operand> withoutGuard(const Function& f, InstrId id) {
  return f.operandsOf(f[id]).subspan(f[id].is(Instruction::Guarded) ? 1 : 0);
}

}  // namespace

WideProducts::WideProducts(const Function& f, PassContext& context, const AddressValues& values,
                           NarrowValues& narrow, Edits& edits, MissedRemarks& missed)
    : f_(f),
      context_(context),
      module_(context.module),
      slots_(context.analyses.slotIndexes()),
      values_(values),
      narrow_(narrow),
      edits_(edits),
      missed_(missed),
      uses_(f, context, values),
      budget_(f, context, RangeRegisterBudget::Estimate::Plain),
      loopBudget_(f, context),
      isGone_(f.instructions.size()),
      isTaken_(f.instructions.size()) {}

// Whether anything needs more than the lower half of the value. Where it cannot be seen, yes.
bool WideProducts::needsUpper(ValueKey k, unsigned depth) const {
  if (depth == kMostDepth || !values_.isAlone(k)) return true;
  for (const ValueUse& u : values_.uses(k)) {
    if (u.isAddress) {
      if (u.space != MemorySpace::Shared) return true;
      continue;
    }
    const OpcodeForm& reader = form(u.at);
    if (!u.isPlain || f_[u.at].is(Instruction::Guarded)) return true;
    if (reader.op == Op::Cvt && info(reader.sourceType).bits == 64 && info(reader.type).bits <= 32) continue;
    const bool copies =
        reader.isExactly(Op::Mov, ScalarType::u64) || reader.isExactly(Op::Mov, ScalarType::b64) ||
        (reader.op == Op::Cvta && reader.has(ModifierFlag::To) && reader.space == StateSpace::Shared);
    const bool keeps =
        isSum(u.at) || isMultiplication(reader) || isMask(reader) || copies || (isShift(reader) && u.operand == 1);
    const auto operands = f_.operandsOf(f_[u.at]);
    if (!keeps || !operands[0].isRegister()) return true;
    const ValueKey made = values_.written(operands[0].reg(), u.at);
    if (!made.valid() || needsUpper(made, depth + 1)) return true;
  }
  return false;
}

// Whether the loop has a register for the factor, which IMAD.WIDE reads from one.
bool WideProducts::hasRoom(InstrId id) {
  const LoopId l = context_.analyses.loops().of(context_.analyses.cfg().blockOf(id));
  if (!l.valid()) return true;
  if (hasRoom_.empty()) hasRoom_.resize(context_.analyses.loops().size());
  std::optional<bool>& known = hasRoom_[l.value];
  if (!known) known = loopBudget_.has(l, 1);
  return *known;
}

// A number that is extended either way counts as it is extended, so that equal products stay equal.
bool WideProducts::prefersSigned(const Operand& o, InstrId at, Narrow n) const {
  if (n.isSigned != n.isUnsigned) return n.isSigned;
  const InstrId id = narrow_.extension(o, at);
  return id.valid() && form(id).sourceType == ScalarType::s32;
}

bool WideProducts::look(InstrId id) {
  const OpcodeForm& opcode = form(id);
  const bool shifts = isShift(opcode), multiplies = isMultiplication(opcode);
  const bool adds = opcode.isExactly(Op::Mad, ProductHalf::Lo, ScalarType::s64) ||
                    opcode.isExactly(Op::Mad, ProductHalf::Lo, ScalarType::u64);
  const bool isWide = isExactlyWide(opcode, Op::Mad);
  const auto operands = withoutGuard(f_, id);
  if (isExactlyWide(opcode, Op::Mul)) {
    if (operands.size() != 3 || !operands[0].isRegister()) return false;
    if (immediate(f_, operands[2])) wide_.push_back(id);
    return false;
  }
  if (isAddition(opcode)) {
    if (!f_[id].is(Instruction::Guarded) && operands.size() == 3 && operands[0].isRegister() &&
        operands[0].writes() && operands[1].flags == 0 && operands[2].flags == 0 &&
        (narrow_.extension(operands[1], id).valid() || narrow_.extension(operands[2], id).valid()))
      additions_.push_back(id);
    return false;
  }
  if (!shifts && !multiplies && !adds && !isWide) return false;
  if (operands.size() != (shifts || multiplies ? 3u : 4u) || !operands[0].isRegister() || !operands[0].writes())
    return false;
  const auto reject = [&](std::string_view why) {
    missed_.add(why);
    return true;
  };
  const auto isPlain = [&](const Operand& o) {
    return (o.isRegister() && o.flags == 0) || immediate(f_, o).has_value();
  };
  if (!std::ranges::all_of(operands.subspan(1), isPlain)) return reject("not-extended");
  // shl.b64 takes it, mul.wide does not.
  if (!isIntegerRegister(f_, operands[0], 64)) return reject("float-register");
  if (const ValueKey made = values_.written(operands[0].reg(), id); made.valid() && !needsUpper(made, 0))
    return reject("low-half-only");
  if (isWide) {
    if (!splitWide(id, operands, opcode.type == ScalarType::s32)) return reject("addend-extended");
    return true;
  }
  Operand a = operands[1], b = operands[2];
  if (immediate(f_, a) && !shifts) std::swap(a, b);
  if (!a.isRegister()) return reject("trivial");
  const auto constant = immediate(f_, b);
  if (shifts) {
    if (!constant) return reject("not-extended");
    if (*constant >= 32) return reject("shift-out");
    b = Edits::number(0);
  }
  const Operand* added = adds ? &operands[3] : nullptr;
  if (!constant) {
    const Narrow x = narrow_.of(a, id), y = x.any() ? narrow_.of(b, id) : Narrow();
    const Narrow both = x & y;
    if (!y.any()) return reject("not-extended");
    if (!both.any()) return reject("mixed-signs");
    emitProduct(id, a, b, prefersSigned(a, id, both), added, !adds && uses_.of(operands[0], id).steps != 0);
    return true;
  }
  const int64_t factor = shifts ? int64_t{1} << *constant : static_cast<int64_t>(*constant);
  if (factor == 0 || factor == 1) return reject("trivial");
  const Narrow x = narrow_.of(a, id);
  if (x.any() && !hasRoom(id)) return reject("pressure");
  const Narrow kind{x.isSigned && fitsKind(factor, true), x.isUnsigned && fitsKind(factor, false)};
  if (kind.any()) {
    if (narrow_.unrollingOf(a, id) == Unrolling::Likely) return reject("loop-counter");
    const bool isSigned = prefersSigned(a, id, kind);
    if (shifts)
      shift(id, a, factor, isSigned);
    else
      emitProduct(id, a, Edits::number(factor), isSigned, added, false);
    return true;
  }
  if (x.any() || !fitsKind(factor, true)) return reject("constant");
  if (adds || f_[id].is(Instruction::Guarded)) return reject("not-extended");
  distribute(id, a, factor, shifts ? static_cast<unsigned>(*constant) : 0);
  return true;
}

// A shift and an addition are two instructions, LEA and LEA.HI.X, which extends by the way.
void WideProducts::shift(InstrId id, const Operand& a, int64_t factor, bool isSigned) {
  const ProductUses::Counts uses = uses_.of(withoutGuard(f_, id)[0], id);
  const bool gains = uses.pairs + uses.steps + (uses.others != 0 ? 1 : 0) > uses.uniform;
  if (!gains && (uses.uniform != 0 || uses.parameters == 0)) return missed_.add("uniform-addend");
  const bool isInLoop = context_.analyses.loops().of(context_.analyses.cfg().blockOf(id)).valid();
  needFactor(factor, isInLoop ? 2 * uses.parameters : uses.parameters);
  if (gains)
    emitProduct(id, a, Edits::number(factor), isSigned, nullptr, false);
  else
    waiting_.push_back({id, a, factor, isSigned, {}});
}

// Whether it is computed for this addition, by an instruction that adds by the way.
bool WideProducts::isPartOfSum(const Operand& o, InstrId at) const {
  const ValueKey k = values_.read(o.reg(), at);
  const InstrId id = k.valid() ? values_.definition(k) : InstrId();
  if (!id.valid() || !values_.isAlone(k) || values_.uses(k).size() != 1) return false;
  const OpcodeForm& opcode = form(id);
  return isSum(id) || isMultiplication(opcode) || isShift(opcode) || isWideProduct(opcode) || opcode.op == Op::Mad;
}

// Whether accesses to memory add a uniform base to an offset of 32 bits by themselves. From sm_80 on a descriptor
// stands where the base did.
bool WideProducts::addsInAddresses() const { return context_.target().has(target::Capability::BaseInAddress); }

// From sm_90 on, IMAD.WIDE reads a parameter from registers only, so it waits for a load from the constant bank. An
// addition in two halves does not: each reads its half from the bank, or from a uniform register.
bool WideProducts::loadsParameters() const {
  return context_.target().has(target::Capability::ParametersInRegisters) &&
         context_.costs().add64 > context_.costs().wideProduct;
}

// x + r with r extended is x + 1 * r: one IMAD.WIDE, too, where an addition is two instructions and extends the
// sign with a third.
void WideProducts::add(InstrId id) {
  const auto operands = f_.operandsOf(f_[id]);
  const bool isFirst = narrow_.extension(operands[1], id).valid();
  const Operand &a = operands[isFirst ? 1 : 2], &other = operands[isFirst ? 2 : 1];
  if (!other.isRegister() || narrow_.of(other, id).any()) return;  // see narrowing.cpp
  const ValueKey made = values_.written(operands[0].reg(), id);
  if (!made.valid() || !needsUpper(made, 0)) return missed_.add("low-half-only");
  // One instruction adds the lower halves of three summands, and one the upper.
  const bool isSummand = values_.isAlone(made) && values_.uses(made).size() == 1 &&
                         !values_.uses(made)[0].isAddress && isSum(values_.uses(made)[0].at);
  if (isSummand || isPartOfSum(other, id)) return missed_.add("sum-of-three");
  // Where an addition of 64 bits is one instruction, too, only the extension is saved.
  const ValueKey extended = values_.read(a.reg(), id);
  const bool isForThis = extended.valid() && values_.isAlone(extended) && values_.uses(extended).size() == 1;
  if (context_.costs().add64 <= context_.costs().wideProduct && !isForThis) return missed_.add("extension-kept");
  const InstrId extension = narrow_.extension(a, id);
  const ProductUses::Counts c = uses_.ofAddition(other, id, context_.analyses.cfg().blockOf(extension));
  if (c.steps != 0) return missed_.add("loop-step");
  if (c.uniform != 0) return missed_.add("uniform-addend");
  const bool isSigned = form(extension).sourceType == ScalarType::s32;
  if (!isSigned && c.parameters != 0 && addsInAddresses()) return missed_.add("offset");
  if (!isSigned && c.parameters != 0 && loadsParameters()) return missed_.add("parameter");
  // Without a sign there is no third instruction, and the pair that is added to is moved where it is not an aligned
  // one.
  if (!isSigned && c.parameters == 0 && context_.costs().add64 > context_.costs().wideProduct)
    return missed_.add("no-sign");
  needFactor(1, c.parameters);
  if (c.parameters == 0)
    emitProduct(id, a, Edits::number(1), isSigned, &other, false);
  else if (hasRoom(id))
    waiting_.push_back({id, a, 1, isSigned, other});
  else
    return missed_.add("pressure");
  isTaken_[id.value] = true;
}

void WideProducts::finish() {
  for (const InstrId id : additions_)
    if (!isTaken_[id.value] && !isGone_[id.value]) add(id);
  if (!waiting_.empty())
    for (const InstrId id : wide_) {
      const auto operands = withoutGuard(f_, id);
      needFactor(static_cast<int64_t>(*immediate(f_, operands[2])), uses_.of(operands[0], id).parameters);
    }
  for (const Waiting& w : waiting_) {
    // One addition less for a register that holds the factor.
    if (needs_[w.factor] > 1)
      emitProduct(w.id, w.operand, Edits::number(w.factor), w.isSigned, w.added ? &*w.added : nullptr, false);
    else
      missed_.add("factor-alone");
  }
}

void WideProducts::emitProduct(InstrId id, const Operand& a, const Operand& b, bool isSigned, const Operand* added,
                               bool isKept) {
  const SynthOpcode opcode = isSigned ? SynthOpcode::MulWideS32 : SynthOpcode::MulWideU32;
  const Operand left = narrow_.lower(a, id, id, edits_);
  const Operand right = b.isRegister() ? narrow_.lower(b, id, id, edits_) : b;
  if (isKept) {
    const Operand low = edits_.temporary(ScalarType::b32), high = edits_.temporary(ScalarType::b32);
    edits_.insert(id, SynthOpcode::MulLoS32, {low, left, right});
    edits_.insert(id, isSigned ? SynthOpcode::MulHiS32 : SynthOpcode::MulHiU32, {high, left, right});
    edits_.replace(id, SynthOpcode::MovB64, {Edits::pair(), Edits::asFirst(low), Edits::asUse(high)});
    context_.count("kept");
  } else if (added == nullptr) {
    edits_.replace(id, opcode, {left, right});
  } else {
    const Operand product = edits_.temporary(ScalarType::b64);
    edits_.insert(id, opcode, {product, left, right});
    edits_.replace(id, SynthOpcode::AddS64, {Edits::asUse(*added), Edits::asUse(product)});
  }
  context_.count("products");
}

// What is added to an extended number has no upper half to be moved where a pair is to be. A uniform product is
// made beside the vector instructions, and its sum with a narrow number is one for each half.
bool WideProducts::splitWide(InstrId id, std::span<const Operand> operands, bool isSigned) {
  const auto isUniform = [&](const Operand& o) { return !o.isRegister() || uses_.isUniform(o.reg()); };
  if (narrow_.of(operands[3], id).any() && !(isUniform(operands[1]) && isUniform(operands[2]))) return false;
  const Operand product = edits_.temporary(ScalarType::b64);
  edits_.insert(id, isSigned ? SynthOpcode::MulWideS32 : SynthOpcode::MulWideU32,
                {product, Edits::asUse(operands[1]), Edits::asUse(operands[2])});
  edits_.replace(id, SynthOpcode::AddS64, {Edits::asUse(operands[3]), Edits::asUse(product)});
  context_.count("split");
  return true;
}

}  // namespace ptxopt
