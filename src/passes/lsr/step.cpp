#include "passes/lsr/step.h"

#include "analysis/scev_instructions.h"

namespace ptxopt {
namespace {
constexpr unsigned kBias = 3;  // subtract a step, add it as a product
}

RegId UnitSteps::unit() {
  if (unit_.valid()) return unit_;
  const Module& module = context_.module;
  const Cfg& cfg = context_.analyses.cfg();
  // Where control enters: behind the label, the declarations and braces of the first block.
  InstrId before = cfg[BlockId(0u)].first;
  while (before.valid() && !f_[before].isInstruction()) before = f_[before].next;
  const RegId blocks = f_.makeRegister(ScalarType::b32);
  unit_ = f_.makeRegister(ScalarType::b32);
  Operand grid;
  grid.kind = OperandKind::SpecialRegister;
  grid.join = Join::Comma;
  grid.payload = module.made.nctaid.value;
  expander_.instruction(MadeOpcode::MovU32, {registerOperand(blocks, Role::Def), grid}, before);
  expander_.instruction(MadeOpcode::MinU32,
                        {registerOperand(unit_, Role::Def), registerOperand(blocks, Role::Use, Join::Comma),
                         Expander::number(1)},
                        before);
  return unit_;
}

std::optional<UnitSteps::Increment> UnitSteps::increment(const InductionVariable& iv, LoopId loop) const {
  const Module& module = context_.module;
  const Cfg& cfg = context_.analyses.cfg();
  const Loops& loops = context_.analyses.loops();
  const SlotIndexes& slots = context_.analyses.slotIndexes();
  const LiveIntervals& intervals = context_.analyses.liveIntervals();
  const std::vector<BlockId> latches = loops.latches(cfg, loop);
  if (latches.empty()) return std::nullopt;
  // The value that all latches bring, through copies.
  RegId reg = iv.reg;
  ValueId value;
  for (const BlockId b : latches) {
    const ValueId v = intervals[reg].valueAt(slots.end(b).previous());
    if (value.valid() && v != value) return std::nullopt;
    value = v;
  }
  for (int copies = 0; copies < 4 && value.valid(); ++copies) {
    const LiveValue& v = intervals[reg][value];
    if (v.kind != ValueKind::Instruction || v.isPartial) return std::nullopt;
    const InstrId id = slots.instructionAt(v.def);
    const auto operands = f_.operandsOf(f_[id]);
    const OpcodeForm& form = module.form(f_[id]);
    if (loops.of(cfg.blockOf(id)) != loop || form.row == nullptr || operands.size() < 2 ||
        !operands[0].isRegister() || !operands[1].isRegister())
      return std::nullopt;
    if (form.row->key == "mov" && operands.size() == 2) {
      reg = operands[1].reg();
      value = intervals[reg].valueIn(slots[id]);
      continue;
    }
    if (form.row->key != "add" || form.effects != effect::Pure || operands.size() != 3 || info(form.type).bits != 64)
      return std::nullopt;
    const auto constant = immediate(f_, operands[2]);
    if (!constant) return std::nullopt;
    const auto c = static_cast<int64_t>(*constant);
    ScalarEvolution& evolution = context_.analyses.scalarEvolution();
    const Expr n = evolution.expressions()[iv.expr];
    if (c != static_cast<int32_t>(c) || !evolution.expressions().isConstant(n.step(), static_cast<uint64_t>(c)))
      return std::nullopt;
    return Increment{id, c};
  }
  return std::nullopt;
}

// Whether the start comes from a mul.wide and its addition, or from a parameter.
bool UnitSteps::startsAligned(const InductionVariable& iv, const ExpansionPlace& preheader) const {
  const Module& module = context_.module;
  const SlotIndexes& slots = context_.analyses.slotIndexes();
  const LiveIntervals& intervals = context_.analyses.liveIntervals();
  const auto definition = [&](RegId reg, ValueId v) -> InstrId {
    for (int copies = 0; copies < 4 && v.valid(); ++copies) {
      const LiveValue& value = intervals[reg][v];
      if (value.kind != ValueKind::Instruction || value.isPartial) return {};
      const InstrId id = slots.instructionAt(value.def);
      const auto operands = f_.operandsOf(f_[id]);
      const std::string_view opcode = module.text(module.form(f_[id]).text);
      const bool isCopy = (opcode.starts_with("mov.") || opcode.starts_with("cvta.")) && operands.size() == 2 &&
                          operands[1].isRegister();
      if (!isCopy) return id;
      reg = operands[1].reg();
      v = intervals[reg].valueIn(slots[id]);
    }
    return {};
  };
  const InstrId id = definition(iv.reg, intervals[iv.reg].valueAt(slots.end(preheader.block).previous()));
  if (!id.valid()) return false;
  const std::string_view opcode = module.text(module.form(f_[id]).text);
  if (opcode.starts_with("ld.") || opcode.starts_with("mul.wide.") || opcode.starts_with("mov.")) return true;
  if (!opcode.starts_with("add.")) return false;
  for (const Operand& o : f_.operandsOf(f_[id])) {
    if (!o.isRegister() || !o.reads()) continue;
    const InstrId source = definition(o.reg(), intervals[o.reg()].valueIn(slots[id]));
    if (source.valid() && module.text(module.form(f_[source]).text).starts_with("mul.wide.")) return true;
  }
  return false;
}

UnitSteps::Start UnitSteps::howToStart(const InductionVariable& iv, const ExpansionPlace& preheader,
                                       unsigned& price) {
  price = 0;
  if (startsAligned(iv, preheader)) return Start::Aligned;
  const ExprId start = context_.analyses.scalarEvolution().expressions()[iv.expr].start();
  price = kBias;
  if (!expander_.endsWide(start) || expander_.priceAnew(start, preheader) > kBias) return Start::Earlier;
  price = expander_.priceAnew(start, preheader);
  return Start::Anew;
}

void UnitSteps::rewrite(const InductionVariable& iv, const Increment& increment, Start start,
                        const ExpansionPlace& preheader) {
  const InstrId place = preheader.before;
  if (start == Start::Anew) {
    const ExprId e = context_.analyses.scalarEvolution().expressions()[iv.expr].start();
    expander_.copyTo(iv.reg, expander_.emitAnew(e, preheader), place);
  } else if (start == Start::Earlier) {
    const RegId before = expander_.addImmediate(iv.reg, -increment.constant, 64, place);
    const RegId product = step(increment.constant, place);
    expander_.addTo(iv.reg, before, product, 64, place);
  }
  const RegId product = step(increment.constant, increment.instruction);
  // add.s64 d, a, C becomes add.s64 d, a, product
  const Instruction i = f_[increment.instruction];
  f_.operands[i.firstOperand + 2] = registerOperand(product, Role::Use, Join::Comma);
  f_.touch(increment.instruction);
}

}  // namespace ptxopt
