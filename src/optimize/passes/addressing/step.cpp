// UnitSteps looks for the one addition that all latches bring, through copies, and replaces its step by a product. A
// start that is not an aligned pair is computed anew if it ends in a product and costs at most four instructions;
// otherwise a product with zero is added to it.
#include "passes/addressing/step.h"

#include "passes/addressing/address_opcodes.h"
#include "passes/util/opaque_numbers.h"

namespace ptxopt {
namespace {
constexpr unsigned kPaired = 1, kMostAnew = 4;  // machine instructions for a start
}

RegId UnitSteps::unit() {
  if (!unit_.valid()) unit_ = makeOne(f_, context_, afterUnit_);
  return unit_;
}

RegId UnitSteps::zero() {
  if (zero_.valid()) return zero_;
  const RegId one = unit();
  zero_ = f_.makeRegister(ScalarType::b32, 1, NameHint::Zero);
  expander_.instruction(SynthOpcode::AddS32, {defOperand(zero_), useOperand(one), integerOperand(-1)}, afterUnit_);
  return zero_;
}

void UnitSteps::addPaired(RegId to, RegId start, InstrId before) {
  expander_.addTo(to, start, expander_.multiplyWide(zero(), 4, true, before), 64, before);
}

std::optional<UnitSteps::Increment> UnitSteps::increment(const InductionVariable& iv, LoopId loop) const {
  const Module& module = context_.module;
  const Cfg& cfg = context_.analyses.cfg();
  const Loops& loops = context_.analyses.loops();
  const SlotIndexes& slots = context_.analyses.slotIndexes();
  const LiveIntervals& intervals = context_.analyses.liveIntervals();
  const ValueRanges& ranges = context_.analyses.valueRanges();
  const std::vector<BlockId> latches = loops.latches(cfg, loop);
  if (latches.empty()) return std::nullopt;
  // The value that all latches bring, through copies.
  RegId reg = iv.reg;
  ValueId value;
  for (const BlockId b : latches) {
    const ValueId v = intervals[reg].valueAt(slots.last(b));
    if (value.valid() && v != value) return std::nullopt;
    value = v;
  }
  for (int copies = 0; copies < 4 && value.valid(); ++copies) {
    const InstrId id = ranges.definition(reg, value);
    if (!id.valid()) return std::nullopt;
    const auto operands = f_.operandsOf(f_[id]);
    const OpcodeForm& form = module.form(f_[id]);
    if (loops.of(cfg.blockOf(id)) != loop || operands.size() < 2 || !operands[0].isRegister() ||
        !operands[1].isRegister())
      return std::nullopt;
    if (form.op == Op::Mov && operands.size() == 2) {
      reg = operands[1].reg();
      value = ranges.valueRead(reg, id);
      continue;
    }
    if (form.op != Op::Add || form.effects != effect::Pure || operands.size() != 3 || info(form.type).bits != 64)
      return std::nullopt;
    ScalarEvolution& evolution = context_.analyses.scalarEvolution();
    ScevExpressions& e = evolution.expressions();
    const ExprId step = e[iv.expr].step();
    // Which of the two sources is the step; the other one is the register before.
    for (const uint32_t k : {2u, 1u}) {
      const Operand& o = operands[k];
      ExprId found;
      if (const auto bits = immediate(f_, o))
        found = e.constant(*bits, 64);
      else if (o.isRegister() && o.flags == 0)
        found = evolution.read(o.reg(), id);
      if (found != step || !operands[3 - k].isRegister()) continue;
      return Increment{id, f_[id].firstOperand + k};
    }
    return std::nullopt;
  }
  return std::nullopt;
}

UnitSteps::Start UnitSteps::howToStart(const InductionVariable& iv, LoopId loop, const ExpansionPlace& preheader,
                                       unsigned& cost) {
  cost = 0;
  if (sums_.startsAligned(iv.reg, loop)) return Start::Aligned;
  const ScevExpressions& e = context_.analyses.scalarEvolution().expressions();
  const ExprId start = e[iv.expr].start();
  cost = kPaired;
  if (!expander_.endsWide(start) || expander_.costAnew(start, preheader) > kMostAnew) return Start::Paired;
  // What computed it falls away.
  return Start::Anew;
}

void UnitSteps::rewrite(const InductionVariable& iv, const Increment& increment, const StepProduct& step,
                        Start start, const ExpansionPlace& preheader) {
  const InstrId place = preheader.before;
  const Factors by = factors(step, preheader);
  ScevExpressions& e = context_.analyses.scalarEvolution().expressions();
  // Where its name means another register the start stays as it is, which is dearer only.
  if (!expander_.canBeNamed(iv.reg, place)) start = Start::Aligned;
  if (start == Start::Anew) {
    expander_.copyTo(iv.reg, expander_.emitAnew(e[iv.expr].start(), preheader), place);
  } else if (start == Start::Paired) {
    addPaired(iv.reg, iv.reg, place);
  }
  // add.s64 d, a, step becomes add.s64 d, a, product. The instructions of the product are more operands: no
  // reference into them lives that long.
  const RegId by64 = product(by, increment.instruction);
  Operand& o = f_.operands[increment.operand];
  o = registerOperand(by64, Role::Use, o.join);
  f_.touch(increment.instruction);
  note(iv.reg, step, increment.instruction);
}

void UnitSteps::note(RegId pointer, const StepProduct& step, InstrId addition) {
  if (step.needsUnit()) made_.push_back({pointer, f_[addition].previous, addition, step.constant});
}

std::optional<StepProduct> stepProduct(ScalarEvolution& evolution, ExprId step, LoopId loop) {
  ScevExpressions& e = evolution.expressions();
  const Expr n = e[step];
  if (n.width != 64 || !e.isInvariant(step, loop)) return std::nullopt;
  StepProduct p;
  if (n.kind == ExprKind::Constant) {
    p.constant = signedAt(n.constant, 64);
    return fitsSigned32(p.constant) ? std::optional(p) : std::nullopt;
  }
  ExprId factor = step;
  uint64_t scale = 1;
  if (n.kind == ExprKind::Sum) {
    if (n.constant != 0 || n.termCount != 1) return std::nullopt;
    factor = e.terms(step)[0].expr;
    scale = e.terms(step)[0].factor;
  }
  const auto product = wideProduct(evolution, factor, scale);
  if (!product) return std::nullopt;
  static_cast<WideProduct&>(p) = *product;
  return p;
}

unsigned UnitSteps::cost(const StepProduct& p, const ExpansionPlace& preheader) {
  const unsigned left = p.left.valid() ? expander_.cost(p.left, preheader) : 0;
  const unsigned right = p.right.valid() ? expander_.cost(p.right, preheader) : 0;
  return left == Expander::kImpossible || right == Expander::kImpossible ? Expander::kImpossible : left + right;
}

UnitSteps::Factors UnitSteps::factors(const StepProduct& p, const ExpansionPlace& preheader) {
  Factors f;
  f.left = p.left.valid() ? expander_.emitToKeep(p.left, preheader) : unit();
  if (p.right.valid()) f.right = expander_.emitToKeep(p.right, preheader);
  f.constant = p.constant;
  f.isSigned = p.isSigned;
  return f;
}

RegId UnitSteps::product(const Factors& f, InstrId before) {
  return f.right.valid() ? expander_.multiplyWide(f.left, f.right, f.isSigned, before)
                         : expander_.multiplyWide(f.left, f.constant, f.isSigned, before);
}

}  // namespace ptxopt
