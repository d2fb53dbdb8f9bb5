// Nodes that are needed whatever is replaced are marked once as the core. A question then marks only what hangs on
// operands that it does not replace, with its own number as mark, so that nothing has to be cleared.
#include "passes/addressing/loop_cost.h"

#include <algorithm>

#include "passes/addressing/address_opcodes.h"
#include "passes/addressing/step.h"

namespace ptxopt {

target::Costs costsOfForms(const PassContext& context) {
  // On sm_75 modelled time is the same with products with 1 as with carries, and these have fewer instructions before the loop: clang's kernels
  // of the tests have x0.972 of their instructions, not x0.976. From sm_80 on products take 0.1 to 0.6% less time in L1.
  target::Costs costs = context.costs();
  const int64_t knob = context.knobs[Knob::LsrCarrySteps];
  if (knob == 1 || (knob == 2 && !context.target().has(target::Capability::UnitProductSteps)))
    costs.step64 = std::min(costs.step64, costs.carryStep64);
  return costs;
}

LoopCost::LoopCost(const Function& f, PassContext& context, LoopId loop, const WideSums& sums,
                   std::vector<uint32_t>& nodeOf)
    : f_(f),
      context_(context),
      slots_(context.analyses.slotIndexes()),
      intervals_(context.analyses.liveIntervals()),
      sums_(sums),
      loop_(loop),
      costs_(costsOfForms(context)),
      numbers_(context.analyses.valueRanges().numbers()),
      nodeOf_(nodeOf) {}

void LoopCost::look() {
  if (!nodes_.empty()) return;
  addInstructions();
  const std::size_t instructions = nodes_.size();
  std::vector<Phi> phis;
  for (std::size_t n = 0; n < instructions; ++n) addSources(nodes_[n].instruction, n, phis);
  for (std::size_t p = 0; p < phis.size(); ++p) addSources(phis[p], instructions + p, phis);
  markReadAfter(instructions, phis);
}

void LoopCost::setNode(RegId reg, ValueId v, std::size_t node) {
  const uint32_t key = numbers_(reg, v);
  nodeOf_[key] = static_cast<uint32_t>(node);
  noted_.push_back(key);
}

void LoopCost::addInstructions() {
  const Cfg& cfg = context_.analyses.cfg();
  for (const BlockId b : context_.analyses.loops().blocks(loop_)) {
    if (!cfg[b].reachable) continue;
    for (const InstrId id : slots_.instructions(b)) {
      Node n;
      n.instruction = id;
      n.isRoot = !isRemovable(context_.module, f_, f_[id]);
      n.cost = computeCost(id);
      for (const Operand& o : f_.operandsOf(f_[id])) {
        if (!o.isRegister() || !o.writes()) continue;
        const ValueId v = intervals_[o.reg()].valueOut(slots_[id]);
        if (v.valid()) setNode(o.reg(), v, nodes_.size());
      }
      nodes_.push_back(n);
    }
  }
}

// The node of a value, made for a phi of the loop; kNone for what comes from outside.
uint32_t LoopCost::nodeFor(RegId reg, ValueId v, std::vector<Phi>& phis) {
  if (!v.valid()) return kNone;
  const uint32_t key = numbers_(reg, v);
  if (nodeOf_[key] != kNone) return nodeOf_[key];
  const LiveValue& value = intervals_[reg][v];
  if (value.kind != ValueKind::Phi) return kNone;
  const BlockId b = slots_.blockAt(value.def);
  if (!context_.analyses.loops().contains(loop_, b)) return kNone;
  setNode(reg, v, nodes_.size());
  nodes_.push_back({});
  phis.push_back({reg, b});
  return static_cast<uint32_t>(nodes_.size() - 1);
}

// What instruction `id` reads.
void LoopCost::addSources(InstrId id, std::size_t node, std::vector<Phi>& phis) {
  const auto first = static_cast<uint32_t>(sources_.size());
  const Instruction& i = f_[id];
  for (uint32_t k = 0; k < i.operandCount; ++k) {
    const Operand& o = f_.operands[i.firstOperand + k];
    if (!o.isRegister() || !o.reads()) continue;
    if (const uint32_t s = nodeFor(o.reg(), intervals_[o.reg()].valueIn(slots_[id]), phis); s != kNone)
      sources_.push_back({i.firstOperand + k, s});
  }
  setSources(node, first);
}

// What comes into a phi from inside the loop. By value: `phis` grows.
void LoopCost::addSources(Phi phi, std::size_t node, std::vector<Phi>& phis) {
  const Cfg& cfg = context_.analyses.cfg();
  const auto first = static_cast<uint32_t>(sources_.size());
  for (const BlockId from : cfg.predecessors(phi.block)) {
    if (!cfg[from].reachable || !context_.analyses.loops().contains(loop_, from)) continue;
    const ValueId v = intervals_[phi.reg].valueAt(slots_.last(from));
    if (const uint32_t s = nodeFor(phi.reg, v, phis); s != kNone) sources_.push_back({kNone, s});
  }
  setSources(node, first);
}

void LoopCost::setSources(std::size_t node, uint32_t first) {
  nodes_[node].firstSource = first;
  nodes_[node].sourceCount = static_cast<uint32_t>(sources_.size()) - first;
}

// What is read after the loop is needed. The nodes of `phis` follow those of the instructions.
void LoopCost::markReadAfter(std::size_t instructions, const std::vector<Phi>& phis) {
  std::vector<SlotIndex> after;
  for (const Loops::Exit& e : context_.analyses.loops().exits(context_.analyses.cfg(), loop_))
    if (e.to.valid()) after.push_back(slots_.start(e.to));
  const auto isLiveAfter = [&](RegId r) {
    return std::ranges::any_of(after, [&](SlotIndex s) { return intervals_[r].isLiveAt(s); });
  };
  for (std::size_t n = 0; n < instructions; ++n) {
    const InstrId id = nodes_[n].instruction;
    for (const Operand& o : f_.operandsOf(f_[id])) {
      if (!o.isRegister() || !o.writes()) continue;
      const ValueId v = intervals_[o.reg()].valueOut(slots_[id]);
      if (v.valid() && isLiveAfter(o.reg())) nodes_[nodeOf_[numbers_(o.reg(), v)]].isRoot = true;
    }
  }
  for (std::size_t p = 0; p < phis.size(); ++p)
    if (isLiveAfter(phis[p].reg)) nodes_[instructions + p].isRoot = true;
}

LoopCost::~LoopCost() {
  for (const uint32_t key : noted_) nodeOf_[key] = kNone;
}

double LoopCost::computeCost(InstrId id) const {
  const OpcodeForm& form = context_.module.form(f_[id]);
  if (form.effects != effect::Pure && form.op != Op::Add) return 0;
  const RegisterClass type = info(form.type).registerClass;
  if (type == RegisterClass::F32 || type == RegisterClass::F64 || type == RegisterClass::Pred) return 0;
  const bool isWide = info(form.type).bits == 64;
  switch (form.op) {
    case Op::Mov:
    case Op::Cvta: return 0;
    case Op::Setp: return isWide ? costs_.compare64 : 1;
    case Op::Add:
    case Op::Sub: return isWide ? costOfSum(id) : 1;
    case Op::Shl: return isWide ? 0 : 1;
    case Op::Mul:
    case Op::Mad:
      if (form.half == ProductHalf::Wide) return form.op == Op::Mad ? costs_.multiplyAddWide : costs_.wideProduct;
      return isWide ? costs_.multiply64 : 1;
    case Op::Cvt: return form.isConversion(ScalarType::s64, ScalarType::s32) ? 1 : 0;
    case Op::Min:
    case Op::Max: return isWide ? costs_.minimum64 : 1;
    default: return isWide ? costs_.logic64 : 1;
  }
}

// For an addition or a subtraction of 64 bits.
double LoopCost::costOfSum(InstrId id) const {
  bool addsProduct = false;
  for (const Operand& o : f_.operandsOf(f_[id])) {
    if (!o.isRegister() || o.role != Role::Use) continue;
    const WideSums::Place place = sums_.productAdded(o, id);
    if (place == WideSums::Place::InLoop) return 0;
    addsProduct |= place == WideSums::Place::Outside;
  }
  const RegId stepped = steppedRegister(id);
  if (addsProduct && (!stepped.valid() || sums_.startsAligned(stepped, loop_))) return costs_.wideProduct;
  return stepped.valid() ? costOfStep(id) : costs_.add64;
}

// The register that a sum advances, around the loop.
RegId LoopCost::steppedRegister(InstrId id) const {
  const auto operands = f_.operandsOf(f_[id]);
  if (operands.size() != 3 || !operands[0].isRegister()) return {};
  ScalarEvolution& evolution = context_.analyses.scalarEvolution();
  ScevExpressions& e = evolution.expressions();
  const ExprId made = evolution.written(operands[0].reg(), id);
  if (!made.valid() || !e.isRecurrence(made, loop_)) return {};
  const auto step = std::ranges::find_if(operands.subspan(1), [&](const Operand& o) {
    if (!o.isRegister() || o.flags != 0) return false;
    const ExprId read = evolution.read(o.reg(), id);
    return read.valid() && e.isRecurrence(read, loop_) && e[read].step() == e[made].step() &&
           e.subtract(e[made].start(), e[read].start()) == e[made].step();
  });
  return step == operands.end() ? RegId() : step->reg();
}

double LoopCost::costOfStep(InstrId id) const {
  ScalarEvolution& evolution = context_.analyses.scalarEvolution();
  const ExprId made = evolution.written(f_.operandsOf(f_[id])[0].reg(), id);
  const ExprId step = evolution.expressions()[made].step();
  if (evolution.expressions().isConstant(step)) return costs_.step64;
  // One that is only extended is added like any other number where an addition is one instruction.
  const auto product = costs_.add64 <= 1 ? stepProduct(evolution, step, loop_) : std::nullopt;
  return product && !product->right.valid() && product->constant == 1 ? costs_.step64 : costs_.registerStep64;
}

// What is needed whatever is replaced is marked once.
void LoopCost::makeCore() {
  core_ = 0;
  cuts_.clear();
  for (Node& n : nodes_) n.mark = 0;
  for (uint32_t n = 0; n < nodes_.size(); ++n)
    if (nodes_[n].isRoot) mark(n, kCore);
  std::vector<uint32_t> inCore;
  while (!work_.empty()) {
    const Node n = nodes_[work_.back()];
    inCore.push_back(work_.back());
    work_.pop_back();
    core_ += n.cost;
    for (uint32_t s = n.firstSource; s < n.firstSource + n.sourceCount; ++s)
      if (sources_[s].replaceable == kNone) mark(sources_[s].node, kCore);
  }
  for (const uint32_t k : inCore)
    for (uint32_t s = nodes_[k].firstSource; s < nodes_[k].firstSource + nodes_[k].sourceCount; ++s)
      if (sources_[s].replaceable != kNone && nodes_[sources_[s].node].mark != kCore) cuts_.push_back(s);
  question_ = kCore;
}

void LoopCost::mark(uint32_t node, uint32_t as) {
  if (nodes_[node].mark == kCore || nodes_[node].mark == as) return;
  nodes_[node].mark = as;
  work_.push_back(node);
}

// Operands that are asked about for the first time are found among the sources.
void LoopCost::noteReplaceable(std::span<const uint32_t> replaced) {
  look();
  const std::size_t known = replaceable_.size();
  for (const uint32_t operand : replaced)
    replaceable_.try_emplace(operand, static_cast<uint32_t>(replaceable_.size()));
  if (replaceable_.size() == known && question_ != 0) return;
  for (Source& s : sources_) {
    if (s.operand == kNone || s.replaceable != kNone) continue;
    const auto at = replaceable_.find(s.operand);
    if (at != replaceable_.end()) s.replaceable = at->second;
  }
  askedIn_.assign(replaceable_.size(), 0);
  makeCore();
}

double LoopCost::needed(std::span<const uint32_t> replaced, std::span<const InstrId> steps) {
  noteReplaceable(replaced);
  ++question_;
  for (const uint32_t operand : replaced) askedIn_[replaceable_.find(operand)->second] = question_;
  const auto isRead = [&](const Source& s) {
    return s.replaceable == kNone || askedIn_[s.replaceable] != question_;
  };
  for (const uint32_t s : cuts_)
    if (isRead(sources_[s])) mark(sources_[s].node, question_);
  double all = core_;
  while (!work_.empty()) {
    const Node n = nodes_[work_.back()];
    work_.pop_back();
    all += n.cost;
    for (uint32_t s = n.firstSource; s < n.firstSource + n.sourceCount; ++s)
      if (isRead(sources_[s])) mark(sources_[s].node, question_);
  }
  for (auto at = steps.begin(); at != steps.end(); ++at) {
    if (std::find(steps.begin(), at, *at) != at) continue;
    const uint32_t n = nodeWriting(*at);
    if (n != kNone && isMarked(nodes_[n])) all += costs_.productStep64 - nodes_[n].cost;
  }
  return all;
}

bool LoopCost::isNeeded(RegId reg, ValueId v) const {
  const uint32_t n = nodeOf_[numbers_(reg, v)];
  return n != kNone && isMarked(nodes_[n]);
}

double LoopCost::costOf(InstrId sum) {
  look();
  const uint32_t n = nodeWriting(sum);
  return n == kNone ? 0 : nodes_[n].cost;
}

// The node of the first result.
uint32_t LoopCost::nodeWriting(InstrId id) const {
  const RegId reg = f_.operandsOf(f_[id])[0].reg();
  const ValueId v = intervals_[reg].valueOut(slots_[id]);
  return v.valid() ? nodeOf_[numbers_(reg, v)] : kNone;
}

}  // namespace ptxopt
