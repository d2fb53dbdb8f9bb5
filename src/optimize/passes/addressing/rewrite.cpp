// Pointers are set in the preheader and stepped at the ends of the latches. Constants beyond the immediates go into the
// start. A counter takes over the exit's test by a rewritten setp that keeps the meaning of its predicate. Accesses are
// not changed here but noted as edits.
#include "passes/addressing/rewrite.h"

#include <algorithm>

#include "passes/util/insertion_places.h"

namespace ptxopt {

void GroupRewriter::apply(const UseGroup& group, const Formula& formula, LoopId loop,
                          const ExpansionPlace& preheader, const Counter* counter, RegId counterReg) {
  switch (formula.kind) {
    case FormulaKind::Keep:
    case FormulaKind::UnitStep: break;
    case FormulaKind::Index: applyIndex(group, formula, preheader, counter, counterReg); break;
    default: applyPointer(group, formula, loop, preheader);
  }
}

RegId GroupRewriter::makeCounter(const Counter& counter, LoopId loop, const ExpansionPlace& preheader) {
  const Cfg& cfg = context_.analyses.cfg();
  const RegId reg = f_.makeRegister(ScalarType::b32, 1, NameHint::Counter);
  expander_.copyTo(reg, expander_.emit(counter.start, preheader), preheader.before);
  RegId limit;
  if (counter.test) {
    limit = expander_.emitToKeep(counter.limit, preheader);
  }
  if (counter.isAhead)
    expander_.addConstantTo(reg, 1, 32, counter.test->test);
  else
    for (const BlockId latch : context_.analyses.loops().latches(cfg, loop))
      expander_.addConstantTo(reg, 1, 32, placeAtEnd(context_.module, f_, cfg[latch]));
  if (!counter.test) return reg;
  // The predicate keeps its meaning, and the branch its polarity: it is true where it was.
  const ExitTest& t = *counter.test;
  Instruction& i = f_[t.test];
  const Operand predicate = f_.operandsOf(i)[0];
  const bool trueGoesOn = t.trueGoesOn;
  i.payload = context_.module.synthOpcode(trueGoesOn ? SynthOpcode::SetpNeS32 : SynthOpcode::SetpEqS32).value;
  const Operand operands[] = {predicate, useOperand(reg), useOperand(limit)};
  f_.setOperands(t.test, operands);
  return reg;
}

void GroupRewriter::rewriteUse(const AddressUse& use, RegId reg, int64_t offset) {
  edits_.add({.at = use.instruction,
              .operand = use.operand - f_[use.instruction].firstOperand,
              .reg = reg,
              .immediate = static_cast<int32_t>(offset),
              .isAddress = true});
}

void GroupRewriter::applyPointer(const UseGroup& group, const Formula& formula, LoopId loop,
                                 const ExpansionPlace& preheader) {
  ScevExpressions& e = context_.analyses.scalarEvolution().expressions();
  const Cfg& cfg = context_.analyses.cfg();
  const unsigned width = group.width;
  // What all immediates would be beyond goes into the start.
  const int64_t inStart = group.least < -kMostImmediate || group.most > kMostImmediate ? group.least : 0;
  ExprId start = e.addConstant(formula.base, static_cast<uint64_t>(inStart));
  const RegId pointer = f_.makeRegister(width == 64 ? ScalarType::b64 : ScalarType::b32, 1, NameHint::Pointer);
  const InstrId place = preheader.before;
  if (formula.kind == FormulaKind::Pointer) {
    expander_.copyTo(pointer, expander_.emit(start, preheader), place);
    const int64_t step = signedAt(e[group.step].constant, width);
    for (const BlockId latch : context_.analyses.loops().latches(cfg, loop))
      expander_.addConstantTo(pointer, step, width, placeAtEnd(context_.module, f_, cfg[latch]));
  } else {
    const UnitSteps::Factors factors = steps_.factors(formula.product, preheader);
    if (expander_.endsWide(start)) {
      const bool anew = expander_.costAnew(start, preheader) != Expander::kImpossible;
      expander_.copyTo(pointer, anew ? expander_.emitAnew(start, preheader) : expander_.emit(start, preheader),
                       place);
    } else {
      steps_.addPaired(pointer, expander_.emit(start, preheader), place);
    }
    for (const BlockId latch : context_.analyses.loops().latches(cfg, loop)) {
      const InstrId end = placeAtEnd(context_.module, f_, cfg[latch]);
      expander_.addTo(pointer, pointer, steps_.product(factors, end), 64, end);
      steps_.note(pointer, formula.product, end.valid() ? f_[end].previous : f_.last);
    }
  }
  for (const AddressUse& use : group.uses) {
    const int64_t offset = signedAt(e.constantPart(use.address), width) + use.immediate - inStart;
    rewriteUse(use, pointer, offset);
  }
}

void GroupRewriter::applyIndex(const UseGroup& group, const Formula& formula, const ExpansionPlace& preheader,
                               const Counter* counter, RegId counterReg) {
  ScalarEvolution& evolution = context_.analyses.scalarEvolution();
  ScevExpressions& e = evolution.expressions();
  const Cfg& cfg = context_.analyses.cfg();
  const LiveIntervals& intervals = context_.analyses.liveIntervals();
  const SlotIndexes& slots = context_.analyses.slotIndexes();
  const RegId base = expander_.emitToKeep(formula.base, preheader);
  const RegId index = counter != nullptr ? counterReg : formula.index.reg;
  // What the index holds at a use: how many iterations it is ahead of the header, and a number to distinguish values.
  const auto stateAt = [&](InstrId use) -> std::pair<uint32_t, int64_t> {
    if (counter == nullptr) {
      const ValueId v = intervals[index].valueIn(slots[use]);
      const Expr now = e[evolution.of(index, v)], first = e[formula.index.expr];
      return {v.value, signedAt(e.constantPart(e.subtract(now.start(), first.start())), 32)};
    }
    const bool isPast = counter->isAhead && cfg.blockOf(use) == cfg.blockOf(counter->test->test) &&
                        slots[use] > slots[counter->test->test];
    return {isPast, isPast};
  };
  struct Made {
    BlockId block;
    uint32_t state;
    RegId address;
  };
  std::vector<Made> made;
  for (const AddressUse& use : group.uses) {
    const BlockId b = cfg.blockOf(use.instruction);
    const auto [state, ahead] = stateAt(use.instruction);
    auto known = std::ranges::find_if(made, [&](const Made& m) { return m.block == b && m.state == state; });
    if (known == made.end()) {
      const InstrId before = placeBefore(context_.module, f_, use.instruction);
      const RegId product = expander_.multiplyWide(index, formula.scale, formula.isSigned, before);
      made.push_back({b, state, expander_.add(base, product, 64, before)});
      known = made.end() - 1;
    }
    // The index advanced by `ahead` steps, which are `scale` bytes each.
    const int64_t offset =
        signedAt(e.constantPart(use.address), group.width) + use.immediate - ahead * formula.scale;
    rewriteUse(use, known->address, offset);
  }
}

}  // namespace ptxopt
