// lsr-divisions: quotients and remainders of a loop's counter become counters of their own.
//
// What:       of `x / W`, `x % W`, `x / W % H` and so on, where x goes up by s in each iteration, this makes
//                     if (all numbers are as the digits need them) {
//                       q = x / W; r = x % W; sq = s / W; sr = s % W;     and so for q / H
//                       the loop, in which an iteration ends with
//                         r += sr; if (r >= W) { r -= W; q += 1; } q += sq;
//                     } else
//                       the loop as it was
//             A division takes ptxas some 20 instructions, 4 to 8 after `divide` has taken the reciprocal out of the
//             loop; a digit takes 3 to 5.
// Algorithm:  the digits are those of counter_digits.h, the copy of the loop that of loop_text.h. The check is one
//             branch: the numbers that must not be negative, ored together, have no sign.
// Invariants: with s, x and the limit at least 0, and x + s and the limit + s below 2^31, x is never negative and does
//             not wrap: a further iteration runs only if x was less than the limit (or equal) in the iteration before, by one
//             step more or less. So signed and unsigned divisions and tests are the same. With W between 1 and 2^31 - 1
//             nothing that is added wraps, and a remainder is at most one W too large. The digits of the first iteration
//             are divided as before. All else is executed as it was, in the same order.
// Pays:       where the loop runs several iterations: before it each digit takes two divisions, one if s is 1, instead
//             of the one of the first iteration.
// Cost:       linear in the loops that have divisions.
// Declines:   too-large; loops: no-division, counter, test (counter_digits.h); irreducible, latches, layout,
//             no-preheader, scope, effects, size (loop_text.h); nested (a loop around or inside is changed), made (the
//             loop was kept for the other numbers), few-iterations (a hint says so), no-hint (hints are of other loops),
//             not-available (a number cannot be had before the loop), register-pressure.
#include <algorithm>
#include <vector>

#include "passes/arithmetic/divide/ptx_algebra.h"
#include "passes/loops/counter_digits.h"
#include "passes/loops/loop_entry.h"
#include "passes/loops/loop_text.h"
#include "passes/util/expander.h"
#include "passes/util/function_pass.h"
#include "passes/util/loop_register_budget.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {
namespace {

using division::PtxAlgebra;

constexpr int kRegistersOfDigit = 2;  // beyond what the reciprocal of a divisor takes in the loop as it is

class DivisionStrengthReduction : FunctionPass {
 public:
  DivisionStrengthReduction(Function& f, PassContext& context)
      : FunctionPass(f, context),
        loops_(context.analyses.loops()),
        evolution_(context.analyses.scalarEvolution()),
        expressions_(evolution_.expressions()),
        finder_(f, context),
        text_(f, module_, cfg_, loops_),
        expander_(f, context),
        budget_(f, context) {}

  bool run() {
    // Inner loops first, as they run more often.
    std::vector<bool> isTaken(loops_.size());
    for (std::size_t n = loops_.size(); n-- > 0;) {
      const LoopId l(static_cast<uint32_t>(n));
      std::optional<CounterDigits> digits;
      std::string_view why = isDeclined(l) ? kAsked : finder_.find(l, digits);
      if (why.empty() && isTaken[n]) why = "nested";
      if (why.empty()) why = whyNot(l, *digits);
      if (!why.empty()) {
        missed_.add(why);
        continue;
      }
      found_.push_back({l, *std::move(digits)});
      for (LoopId p = l; p.valid(); p = loops_[p].parent) isTaken[p.value] = true;
    }
    missed_.tell(context_, "loop");
    for (const Found& loop : found_) reduce(loop.l, loop.digits);
    return !found_.empty();
  }

 private:
  struct Found {
    LoopId l;
    CounterDigits digits;
  };
  // What a digit is in the registers.
  struct Digit {
    RegId divisor, quotient, remainder;
    RegId stepQuotient, stepRemainder;  // none: 0, but for a step of 1
    bool stepIsOne = false;
    RegId carries;
  };

  // It would be copied as a whole.
  bool isDeclined(LoopId l) const {
    return std::ranges::any_of(loops_.blocks(l), [&](BlockId b) { return context_.isDeclined(b); });
  }

  std::string_view whyNot(LoopId l, const CounterDigits& c) {
    if (const std::string_view why = text_.whyNot(l); !why.empty()) return why;
    if (isMade(l)) return "made";
    if (const auto why = whyIteratesSeldom(module_, f_, cfg_, loops_[l].header); !why.empty()) return why;
    const ExpansionPlace place = placeOf(l);
    const Expr counter = expressions_[c.counter];
    for (const ExprId e : {counter.start(), counter.step(), c.test.limit})
      if (!expander_.canExpand(e, place)) return "not-available";
    for (const CounterDigit& d : c.digits)
      if (!expander_.canExpand(d.divisor, place)) return "not-available";
    if (!budget_.has(l, kRegistersOfDigit * static_cast<int>(c.digits.size()))) return "register-pressure";
    return {};
  }

  // Whether it is a loop that was kept: nothing but a label stands between the check and its header.
  bool isMade(LoopId l) const {
    const Block& entry = cfg_[loops_.entry(cfg_, l)];
    return entry.first == entry.last && f_[entry.first].kind == InstrKind::Label;
  }

  ExpansionPlace placeOf(LoopId l) const { return {loops_.entry(cfg_, l), cfg_[loops_[l].header].first}; }

  void reduce(LoopId l, const CounterDigits& c) {
    const ExpansionPlace place = placeOf(l);
    const Expr counter = expressions_[c.counter];
    const RegId first = expander_.emitToKeep(counter.start(), place),
                limit = expander_.emitToKeep(c.test.limit, place);
    const RegId step = expander_.emitToKeep(counter.step(), place);
    std::vector<Digit> digits(c.digits.size());
    for (std::size_t n = 0; n < digits.size(); ++n)
      digits[n].divisor = expander_.emitToKeep(c.digits[n].divisor, place);

    const LabelId kept = f_.makeLabel(), done = f_.makeLabel();
    f_.insertLabel(f_[cfg_[text_.latch(l)].last].next, done);
    check(place.before, c, first, step, limit, digits, kept);
    for (std::size_t n = 0; n < digits.size(); ++n) start(place.before, c, n, first, step, digits);
    const InstrId last = cfg_[text_.latch(l)].last;
    text_.copy(l, place.before, done, [&](InstrId id) {
      if (id == last)
        for (std::size_t n = 0; n < digits.size(); ++n) advance(place.before, c, n, digits);
      const auto use = c.uses.find(id.value);
      if (use == c.uses.end()) return false;
      copyOf(place.before, id,
             use->second.isRemainder ? digits[use->second.digit].remainder : digits[use->second.digit].quotient);
      return true;
    });
    f_.insertLabel(place.before, kept);
    context_.count("digits", digits.size());
    context_.count("loops");
  }

  // To the loop as it was, unless all that counts is in 0 to 2^31 - 1.
  void check(InstrId place, const CounterDigits& c, RegId first, RegId step, RegId limit,
             const std::vector<Digit>& digits, LabelId kept) {
    PtxAlgebra a(f_, module_, 32, place);
    std::vector<RegId> parts;
    const auto mayBeNegative = [&](ExprId e) { return !evolution_.range(e).isNeverNegative(); };
    const Expr counter = expressions_[c.counter];
    if (mayBeNegative(counter.step())) parts.push_back(step);
    if (mayBeNegative(counter.start())) parts.push_back(first);
    if (mayBeNegative(c.test.limit)) parts.push_back(limit);
    const RegId room = a.subtract(a.constant(INT32_MAX), step);
    parts.push_back(a.subtract(room, first));
    parts.push_back(a.subtract(room, limit));
    if (c.test.comparison == Relation::NotEqual) {
      // The first that is tested is not beyond the limit.
      const RegId left = a.subtract(limit, first);
      parts.push_back(c.test.tested == c.counter ? left : a.subtract(left, step));
    }
    for (std::size_t n = 0; n < digits.size(); ++n) {
      const RegId divisor = digits[n].divisor;
      if (mayBeNegative(c.digits[n].divisor)) parts.push_back(divisor);
      parts.push_back(a.make(SynthOpcode::AddS32, ScalarType::b32, {divisor, int64_t{-1}}));
    }
    RegId all = parts.front();
    for (std::size_t n = 1; n < parts.size(); ++n)
      all = a.make(SynthOpcode::OrB32, ScalarType::b32, {all, parts[n]});
    const RegId fails = a.make(SynthOpcode::SetpLtS32, ScalarType::pred, {all, int64_t{0}});
    f_.insert(place, module_.synthOpcode(SynthOpcode::Bra),
              std::vector<Operand>{registerOperand(fails, Role::Use, Join::None, Operand::Guard),
                                   {.kind = OperandKind::Label, .payload = kept.value}});
  }

  // The digit of the first iteration, and of the step.
  void start(InstrId place, const CounterDigits& c, std::size_t n, RegId first, RegId step,
             std::vector<Digit>& digits) {
    PtxAlgebra a(f_, module_, 32, place);
    Digit& d = digits[n];
    const std::size_t above = c.digits[n].above;
    const bool isTop = above == CounterDigit::kNone;
    const RegId dividend = isTop ? first : digits[above].quotient;
    d.quotient = a.divide(dividend, d.divisor, false);
    d.remainder = a.subtract(dividend, a.multiply(d.quotient, d.divisor));
    const ExprId stepOf = expressions_[c.counter].step();
    if (isTop && expressions_.isConstant(stepOf, 1)) {
      d.stepIsOne = true;  // also where the divisor is 1: it is reached at once
    } else if (isTop || digits[above].stepQuotient.valid()) {
      const RegId from = isTop ? step : digits[above].stepQuotient;
      d.stepQuotient = a.divide(from, d.divisor, false);
      d.stepRemainder = a.subtract(from, a.multiply(d.stepQuotient, d.divisor));
    }
  }

  void advance(InstrId place, const CounterDigits& c, std::size_t n, std::vector<Digit>& digits) {
    PtxAlgebra a(f_, module_, 32, place);
    Digit& d = digits[n];
    if (d.stepIsOne)
      a.put(SynthOpcode::AddS32, d.remainder, {d.remainder, int64_t{1}});
    else if (d.stepRemainder.valid())
      a.put(SynthOpcode::AddS32, d.remainder, {d.remainder, d.stepRemainder});
    if (const std::size_t above = c.digits[n].above; above != CounterDigit::kNone) {
      const Operand carried = guardBy(digits[above].carries);
      a.put(SynthOpcode::AddS32, d.remainder, {d.remainder, int64_t{1}}, &carried);
    }
    d.carries = a.make(SynthOpcode::SetpGeU32, ScalarType::pred, {d.remainder, d.divisor});
    const Operand carries = guardBy(d.carries);
    a.put(SynthOpcode::SubS32, d.remainder, {d.remainder, d.divisor}, &carries);
    if (!c.digits[n].quotientIsRead) return;
    if (d.stepQuotient.valid()) a.put(SynthOpcode::AddS32, d.quotient, {d.quotient, d.stepQuotient});
    a.put(SynthOpcode::AddS32, d.quotient, {d.quotient, int64_t{1}}, &carries);
  }

  void copyOf(InstrId place, InstrId id, RegId value) {
    const bool isGuarded = f_[id].is(Instruction::Guarded);
    const Operand guard = f_.operandsOf(f_[id])[0];
    const RegId result = f_.operandsOf(f_[id])[isGuarded ? 1 : 0].reg();
    PtxAlgebra(f_, module_, 32, place).put(SynthOpcode::MovB32, result, {value}, isGuarded ? &guard : nullptr);
  }

  static Operand guardBy(RegId predicate) {
    return registerOperand(predicate, Role::Use, Join::None, Operand::Guard);
  }

  const Loops& loops_;
  ScalarEvolution& evolution_;
  ScevExpressions& expressions_;
  CounterDigitFinder finder_;
  LoopText text_;
  Expander expander_;
  LoopRegisterBudget budget_;
  MissedRemarks missed_;
  std::vector<Found> found_;
};

bool dividesIntegers(const Module& module, const Function& f) {
  for (const InstrId id : f)
    if (f[id].isInstruction() && division::isDivision(module.form(f[id])) && module.form(f[id]).hasOnly(0))
      return true;
  return false;
}

}  // namespace

bool lsrDivisions(Function& f, PassContext& context) {
  if (!dividesIntegers(context.module, f)) return false;
  if (!context.hasUsableIntervals() || context.analyses.loops().size() == 0) return false;
  return DivisionStrengthReduction(f, context).run();
}

}  // namespace ptxopt
