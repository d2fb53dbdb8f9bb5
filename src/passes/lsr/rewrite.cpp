#include "passes/lsr/rewrite.h"

#include <algorithm>

namespace ptxopt {

void GroupRewriter::apply(const UseGroup& group, const Formula& formula, LoopId loop,
                          const ExpansionPlace& preheader) {
  if (formula.kind == FormulaKind::Index)
    applyIndex(group, formula, preheader);
  else if (formula.kind != FormulaKind::Keep)
    applyPointer(group, formula, loop, preheader);
}

// [old+imm] becomes [reg+offset].
void GroupRewriter::rewriteUse(const AddressUse& use, RegId reg, int64_t offset) {
  const InstrId id = use.instruction;
  Instruction& i = f_[id];
  const uint32_t at = use.operand - i.firstOperand;
  std::vector<Operand> operands(f_.operandsOf(i).begin(), f_.operandsOf(i).end());
  Operand& memory = operands[at - 1];
  operands[at].payload = reg.value;
  Operand number = Expander::number(offset);
  number.join = Join::Plus;
  const bool hasNumber = memory.inside() == 2;
  memory.payload = offset != 0 ? 2 : 1;
  if (hasNumber && offset != 0) {
    operands[at + 1] = number;
  } else if (hasNumber) {
    operands.erase(operands.begin() + at + 1);
  } else if (offset != 0) {
    operands.insert(operands.begin() + at + 1, number);
  }
  f_.setOperands(id, operands);
}

void GroupRewriter::applyPointer(const UseGroup& group, const Formula& formula, LoopId loop,
                                 const ExpansionPlace& preheader) {
  ScevExpressions& e = context_.analyses.scalarEvolution().expressions();
  const Cfg& cfg = context_.analyses.cfg();
  const unsigned width = group.width;
  // What all immediates would be beyond goes into the start.
  const int64_t inStart = group.least < -kMostImmediate || group.most > kMostImmediate ? group.least : 0;
  ExprId start = e.addConstant(formula.base, static_cast<uint64_t>(inStart));
  const RegId pointer = f_.makeRegister(width == 64 ? ScalarType::b64 : ScalarType::b32);
  const InstrId place = preheader.before;
  const int64_t step = e.isConstant(group.step) ? signedAt(e[group.step].constant, width) : 0;
  if (formula.kind != FormulaKind::UnitPointer || expander_.endsWide(start)) {
    const bool anew = formula.kind == FormulaKind::UnitPointer &&
                      expander_.priceAnew(start, preheader) != Expander::kImpossible;
    const RegId first = anew ? expander_.emitAnew(start, preheader) : expander_.emit(start, preheader);
    expander_.copyTo(pointer, first, place);
  } else {
    // A step earlier, and on by a product: that makes an aligned pair.
    start = e.addConstant(start, static_cast<uint64_t>(-step));
    const RegId before = expander_.emit(start, preheader);
    const RegId product = steps_.step(step, place);
    expander_.addTo(pointer, before, product, 64, place);
  }
  RegId stride;
  if (formula.kind == FormulaKind::StridePointer) stride = expander_.emit(formula.stride, preheader);
  for (const BlockId latch : context_.analyses.loops().latches(cfg, loop)) {
    const InstrId end = placeAtEnd(context_.module, f_, cfg[latch]);
    switch (formula.kind) {
      case FormulaKind::UnitPointer: expander_.addTo(pointer, pointer, steps_.step(step, end), 64, end); break;
      case FormulaKind::StridePointer:
        expander_.addTo(pointer, pointer, expander_.multiplyWide(stride, formula.scale, formula.isSigned, end), 64,
                        end);
        break;
      default: expander_.addConstantTo(pointer, step, width, end); break;
    }
  }
  for (const AddressUse& use : group.uses) {
    const int64_t offset = signedAt(e.constantPart(use.address), width) + use.immediate - inStart;
    rewriteUse(use, pointer, offset);
  }
}

void GroupRewriter::applyIndex(const UseGroup& group, const Formula& formula, const ExpansionPlace& preheader) {
  ScalarEvolution& evolution = context_.analyses.scalarEvolution();
  ScevExpressions& e = evolution.expressions();
  const Cfg& cfg = context_.analyses.cfg();
  const LiveIntervals& intervals = context_.analyses.liveIntervals();
  const SlotIndexes& slots = context_.analyses.slotIndexes();
  const RegId base = expander_.emit(formula.base, preheader);
  struct Made {
    BlockId block;
    ValueId index;
    RegId address;
    int64_t ahead;
  };
  std::vector<Made> made;
  for (const AddressUse& use : group.uses) {
    const BlockId b = cfg.blockOf(use.instruction);
    const ValueId index = intervals[formula.index.reg].valueIn(slots[use.instruction]);
    auto known = std::ranges::find_if(made, [&](const Made& m) { return m.block == b && m.index == index; });
    if (known == made.end()) {
      // The index may have moved on since the header: by `ahead` bytes of address.
      const Expr now = e[evolution.of(formula.index.reg, index)];
      const Expr first = e[formula.index.expr];
      const int64_t steps = signedAt(e.constantPart(e.subtract(now.start(), first.start())), 32);
      const RegId product =
          expander_.multiplyWide(formula.index.reg, formula.scale, formula.isSigned, use.instruction);
      made.push_back({b, index, expander_.add(base, product, 64, use.instruction), steps * formula.scale});
      known = made.end() - 1;
    }
    const int64_t offset =
        signedAt(e.constantPart(use.address), group.width) + use.immediate - known->ahead;
    rewriteUse(use, known->address, offset);
  }
}

}  // namespace ptxopt
