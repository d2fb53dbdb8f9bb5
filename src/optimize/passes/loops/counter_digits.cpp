// Divisions by registers that do not vary in the loop are listed in the order of the text, and digits are added until a
// walk adds none. A remainder may also be written x - x/W*W. The exit's test has to bound the counter.
#include "passes/loops/counter_digits.h"

#include <algorithm>

#include "ir/register_types.h"

namespace ptxopt {

using division::Division;

CounterDigitFinder::CounterDigitFinder(Function& f, PassContext& context)
    : f_(f),
      module_(context.module),
      cfg_(context.analyses.cfg()),
      loops_(context.analyses.loops()),
      evolution_(context.analyses.scalarEvolution()),
      e_(evolution_.expressions()),
      ranges_(context.analyses.valueRanges()),
      dominators_(context.analyses.dominators()),
      slots_(context.analyses.slotIndexes()) {}

std::string_view CounterDigitFinder::find(LoopId l, std::optional<CounterDigits>& found) {
  std::vector<Division> divisions;
  findDivisions(l, divisions);
  if (divisions.empty()) return "no-division";
  CounterDigits c;
  // A quotient is found before what divides it: again, until nothing is added.
  for (std::size_t before = SIZE_MAX; before != c.uses.size();) {
    before = c.uses.size();
    for (const Division& d : divisions) {
      if (c.uses.contains(d.at.value)) continue;
      const std::size_t digit = digitOf(d, l, c);
      if (digit == CounterDigit::kNone) continue;
      c.uses.emplace(d.at.value, CounterDigits::Use{digit, d.isRemainder});
      if (!d.isRemainder) c.digits[digit].quotientIsRead = true;
    }
  }
  if (c.uses.empty()) return "counter";
  if (!findTest(l, c)) return "test";
  findSubtractions(l, c);
  found = std::move(c);
  return {};
}

void CounterDigitFinder::findDivisions(LoopId l, std::vector<Division>& divisions) const {
  for (const BlockId b : loops_.blocks(l))
    for (InstrId id = cfg_[b].first;; id = f_[id].next) {
      if (const auto d = division::integerDivision(module_, f_, id);
          d && d->width == 32 && d->dividend.isRegister() && d->divisor.isRegister())
        divisions.push_back(*d);
      if (id == cfg_[b].last) break;
    }
  // In the order of the text, so that the digits are.
  std::ranges::sort(divisions, {},
                    [&](const Division& d) { return std::pair(cfg_.blockOf(d.at).value, d.at.value); });
}

// What makes the value that `id` reads, earlier in the same iteration.
InstrId CounterDigitFinder::makerOf(RegId r, InstrId id) const {
  const InstrId maker = ranges_.definitionRead(r, id);
  if (!maker.valid()) return {};
  const BlockId from = cfg_.blockOf(maker), to = cfg_.blockOf(id);
  const bool isEarlier = from == to ? slots_[maker] < slots_[id] : dominators_.dominates(from, to);
  return isEarlier ? maker : InstrId();
}

ExprId CounterDigitFinder::divisorOf(const Division& d, LoopId l) {
  const ExprId e = evolution_.read(d.divisor.reg(), d.at);
  // ptxas makes a multiplication of a division by a constant.
  return e.valid() && e_.isInvariant(e, l) && !e_.isConstant(e) ? e : ExprId();
}

std::size_t CounterDigitFinder::digitOf(const Division& d, LoopId l, CounterDigits& c) {
  const ExprId divisor = divisorOf(d, l);
  if (!divisor.valid()) return CounterDigit::kNone;
  std::size_t above = CounterDigit::kNone;
  const InstrId maker = makerOf(d.dividend.reg(), d.at);
  if (const auto quotient = maker.valid() ? c.uses.find(maker.value) : c.uses.end();
      quotient != c.uses.end() && !quotient->second.isRemainder) {
    above = quotient->second.digit;
  } else {
    const ExprId x = evolution_.read(d.dividend.reg(), d.at);
    if (!x.valid() || !e_.isRecurrence(x, l) || (c.counter.valid() && c.counter != x)) return CounterDigit::kNone;
    c.counter = x;
  }
  const auto same = std::ranges::find_if(
      c.digits, [&](const CounterDigit& digit) { return digit.divisor == divisor && digit.above == above; });
  if (same != c.digits.end()) return static_cast<std::size_t>(same - c.digits.begin());
  if (above != CounterDigit::kNone) c.digits[above].quotientIsRead = true;
  c.digits.push_back({divisor, above});
  return c.digits.size() - 1;
}

// Front ends compute a remainder as x - x / W * W.
void CounterDigitFinder::findSubtractions(LoopId l, CounterDigits& c) {
  const auto plain = [&](InstrId id, Op op, bool isLow) -> std::span<const Operand> {
    if (!id.valid() || !f_[id].isInstruction() || f_[id].is(Instruction::Guarded)) return {};
    const OpcodeForm& form = module_.form(f_[id]);
    const auto operands = f_.operandsOf(f_[id]);
    const bool is = form.op == op && (form.type == ScalarType::s32 || form.type == ScalarType::u32) &&
                    form.hasOnly(isLow ? field::Half : 0) && operands.size() == 3;
    if (!is || (isLow && form.half != ProductHalf::Lo)) return {};
    for (const Operand& o : operands)
      if (!o.isRegister() || !isIntegerRegister(f_, o, 32)) return {};
    return operands;
  };
  for (const BlockId b : loops_.blocks(l))
    for (InstrId id = cfg_[b].first;; id = f_[id].next) {
      if (const auto sub = plain(id, Op::Sub, false); !sub.empty()) {
        const InstrId product = makerOf(sub[2].reg(), id);
        const auto mul = plain(product, Op::Mul, true);
        for (const unsigned at : {1u, 2u}) {
          if (mul.empty()) break;
          const InstrId maker = makerOf(mul[at].reg(), product);
          const auto quotient = maker.valid() ? c.uses.find(maker.value) : c.uses.end();
          if (quotient == c.uses.end() || quotient->second.isRemainder) continue;
          const CounterDigits::Use use = quotient->second;
          const CounterDigit& digit = c.digits[use.digit];
          if (evolution_.read(mul[3 - at].reg(), product) != digit.divisor) continue;
          const InstrId dividend = makerOf(sub[1].reg(), id);
          const auto above = dividend.valid() ? c.uses.find(dividend.value) : c.uses.end();
          const bool isDividend =
              digit.above == CounterDigit::kNone
                  ? evolution_.read(sub[1].reg(), id) == c.counter
                  : above != c.uses.end() && !above->second.isRemainder && above->second.digit == digit.above;
          if (!isDividend) continue;
          c.uses.emplace(id.value, CounterDigits::Use{use.digit, true});
          break;
        }
      }
      if (id == cfg_[b].last) break;
    }
}

// The counter of the next iteration is what the test has seen, or one step more.
bool CounterDigitFinder::findTest(LoopId l, CounterDigits& c) const {
  const Expr counter = e_[c.counter];
  for (const ExitTest& t : evolution_.exitTests(l)) {
    const bool isBound = t.comparison == Relation::Less || t.comparison == Relation::LessEqual ||
                         (t.comparison == Relation::NotEqual && e_.isConstant(counter.step(), 1));
    if (!isBound || e_[t.tested].width != 32) continue;
    if (t.tested != c.counter && t.tested != e_.add(c.counter, counter.step())) continue;
    c.test = t;
    return true;
  }
  return false;
}

}  // namespace ptxopt
