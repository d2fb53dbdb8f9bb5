// Operations of 64 bits on extended numbers that 32 bits do as well.
//
// setp        of two numbers extended in the same way: of 32 bits one instruction, of 64 two and what extends. An
//             unsigned comparison of sign-extended numbers is that of their lower halves, as extending keeps the
//             order; one of zero-extended numbers is unsigned either way.
// min, max    the same, and the result is extended: one instruction and the extension instead of four.
// add, sub    where the result lies within 32 bits of the kind of the sources: two instructions become one, and an
//             extension of the sign that takes the place of one that is no longer needed. What is read by its lower
//             half only is not changed: ptxas drops the upper one by itself.
// Declines:   mixed-signs, not-extended; test-of-bits (a mask compared with 0, which ptxas makes one instruction of);
//             loop-test (of a counter of 64 bits, in a loop that ptxas may unroll: it could not count the iterations);
//             of sums also: may-wrap, extension-needed (it would cost what it gains).
#include "passes/arithmetic/wide/narrowing.h"

#include <algorithm>
#include <array>

namespace ptxopt {
namespace {

// For comparisons in signed and unsigned numbers.
struct Comparison {
  ComparisonOperator comparison;
  SynthOpcode asSigned, asUnsigned;
};
constexpr std::array<Comparison, 10> kComparisons = {{
    {ComparisonOperator::Eq, SynthOpcode::SetpEqS32, SynthOpcode::SetpEqS32},
    {ComparisonOperator::Ne, SynthOpcode::SetpNeS32, SynthOpcode::SetpNeS32},
    {ComparisonOperator::Lt, SynthOpcode::SetpLtS32, SynthOpcode::SetpLtU32},
    {ComparisonOperator::Le, SynthOpcode::SetpLeS32, SynthOpcode::SetpLeU32},
    {ComparisonOperator::Gt, SynthOpcode::SetpGtS32, SynthOpcode::SetpGtU32},
    {ComparisonOperator::Ge, SynthOpcode::SetpGeS32, SynthOpcode::SetpGeU32},
    {ComparisonOperator::Lo, SynthOpcode::SetpLtU32, SynthOpcode::SetpLtU32},
    {ComparisonOperator::Ls, SynthOpcode::SetpLeU32, SynthOpcode::SetpLeU32},
    {ComparisonOperator::Hi, SynthOpcode::SetpGtU32, SynthOpcode::SetpGtU32},
    {ComparisonOperator::Hs, SynthOpcode::SetpGeU32, SynthOpcode::SetpGeU32},
}};

}  // namespace

void Narrowing::look(InstrId id) {
  const OpcodeForm& form = module_.form(f_[id]);
  if (form.op == Op::Setp) return compare(id, form);
  if (isExactly64(form, Op::Min) || isExactly64(form, Op::Max))
    return choose(id, form.op == Op::Min, form.type == ScalarType::s64);
  if (f_[id].is(Instruction::Guarded)) return;
  if (isAddition(form)) return sum(id, false);
  if (isSubtraction(form)) return sum(id, true);
}

void Narrowing::compare(InstrId id, const OpcodeForm& form) {
  // Not a combination with another predicate, nor floats.
  if (!form.hasOnly(field::Comparison) || !isInteger(form.type) || info(form.type).bits != 64) return;
  const auto all = f_.operandsOf(f_[id]);
  auto operands = all.subspan(f_[id].is(Instruction::Guarded) ? 1 : 0);
  if (operands.size() > 1 && operands[1].join == Join::Pipe) operands = operands.subspan(1);
  if (operands.size() != 3) return;
  const Operand &a = operands[1], &b = operands[2];
  if (!a.isRegister()) return;
  const Narrow x = narrow_.of(a, id), y = x.any() ? narrow_.of(b, id) : Narrow();
  if (!y.any()) return missed_.add("not-extended");
  const Narrow both = x & y;
  if (!both.any()) return missed_.add("mixed-signs");
  for (const Comparison& c : kComparisons) {
    if (c.comparison != form.comparison) continue;
    if (c.asSigned == c.asUnsigned && isTestOfBits(a, b, id)) return missed_.add("test-of-bits");
    if (endsUnrolledLoop(a, b, id)) return missed_.add("loop-test");
    const SynthOpcode narrow = form.type == ScalarType::s64 && both.isSigned ? c.asSigned : c.asUnsigned;
    const Operand left = narrow_.lower(a, id, id, edits_), right = narrow_.lower(b, id, id, edits_);
    edits_.replace(id, narrow, {left, right});
    context_.count("comparisons");
    return;
  }
}

// Whether it is the test of a counter of 64 bits that ends a loop which ptxas may unroll. It would not find the number of iterations in
// the lower half.
bool Narrowing::endsUnrolledLoop(const Operand& a, const Operand& b, InstrId at) {
  const LoopId loop = context_.analyses.loops().of(context_.analyses.cfg().blockOf(at));
  return loop.valid() &&
         std::ranges::any_of(context_.analyses.scalarEvolution().exitTests(loop),
                             [&](const ExitTest& t) { return t.test == at; }) &&
         (narrow_.unrollingOf(a, at) != Unrolling::Unlikely || narrow_.unrollingOf(b, at) != Unrolling::Unlikely);
}

// Whether it is and.b64 with a mask, for nothing but a comparison with 0: one LOP3 for ptxas, which makes it
// of 64 bits only.
bool Narrowing::isTestOfBits(const Operand& a, const Operand& b, InstrId at) const {
  const auto zero = immediate(f_, b);
  if (!zero || *zero != 0) return false;
  const ValueKey k = values_.read(a.reg(), at);
  const InstrId id = k.valid() ? values_.definition(k) : InstrId();
  return id.valid() && isMask(module_.form(f_[id])) && values_.isAlone(k) && values_.uses(k).size() == 1;
}

void Narrowing::choose(InstrId id, bool isMin, bool isSigned) {
  const auto operands = f_.operandsOf(f_[id]).subspan(f_[id].is(Instruction::Guarded) ? 1 : 0);
  if (operands.size() != 3 || !operands[0].isRegister() || !operands[1].isRegister()) return;
  const Narrow x = narrow_.of(operands[1], id), y = x.any() ? narrow_.of(operands[2], id) : Narrow();
  if (!y.any()) return missed_.add("not-extended");
  const Narrow both = x & y;
  if (!both.any()) return missed_.add("mixed-signs");
  const bool extendsSign = !both.isUnsigned, comparesSigned = isSigned && both.isSigned;
  const SynthOpcode narrow = isMin ? (comparesSigned ? SynthOpcode::MinS32 : SynthOpcode::MinU32)
                                   : (comparesSigned ? SynthOpcode::MaxS32 : SynthOpcode::MaxU32);
  const Operand result = edits_.temporary(ScalarType::b32);
  const Operand left = narrow_.lower(operands[1], id, id, edits_);
  const Operand right = narrow_.lower(operands[2], id, id, edits_);
  edits_.insert(id, narrow, {result, left, right});
  edits_.replace(id, extendsSign ? SynthOpcode::CvtS64S32 : SynthOpcode::CvtU64U32, {Edits::asUse(result)});
  context_.count("minima");
}

void Narrowing::sum(InstrId id, bool subtracts) {
  const auto operands = f_.operandsOf(f_[id]);
  if (operands.size() != 3 || !operands[0].isRegister() || !operands[1].isRegister()) return;
  // Extensions only: what else is narrow may be so by its upper half, which something else needs.
  const InstrId left = narrow_.extension(operands[1], id), right = narrow_.extension(operands[2], id);
  if (!left.valid() || (!right.valid() && operands[2].isRegister())) return;
  const Narrow x = narrow_.of(operands[1], id), y = narrow_.of(operands[2], id);
  const Narrow made = narrow_.made(operands[0], id);
  const Narrow all = x & y & made;
  if (!made.any()) return missed_.add("may-wrap");
  if (!all.any()) return missed_.add("mixed-signs");
  if (!all.isUnsigned) {
    // One extension must go for the one that comes.
    const auto dies = [&](const Operand& o) {
      const ValueKey k = o.isRegister() ? values_.read(o.reg(), id) : ValueKey();
      return k.valid() && values_.isAlone(k) && values_.uses(k).size() == 1;
    };
    if (!dies(operands[1]) && !dies(operands[2])) return missed_.add("extension-needed");
  }
  const Operand result = edits_.temporary(ScalarType::b32);
  const Operand a = narrow_.lower(operands[1], id, id, edits_), b = narrow_.lower(operands[2], id, id, edits_);
  edits_.insert(id, subtracts ? SynthOpcode::SubS32 : SynthOpcode::AddS32, {result, a, b});
  edits_.replace(id, all.isUnsigned ? SynthOpcode::CvtU64U32 : SynthOpcode::CvtS64S32, {Edits::asUse(result)});
  context_.count("sums");
}

}  // namespace ptxopt
