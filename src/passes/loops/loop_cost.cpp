#include "passes/loops/loop_cost.h"

#include <algorithm>

#include "passes/loops/address_opcodes.h"

namespace ptxopt {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

}  // namespace

LoopCost::LoopCost(const Function& f, PassContext& context, LoopId loop, std::vector<uint32_t>& nodeOf)
    : f_(f),
      context_(context),
      slots_(context.analyses.slotIndexes()),
      intervals_(context.analyses.liveIntervals()),
      loop_(loop),
      prices_(context.prices()),
      numbers_(context.analyses.valueRanges().numbers()),
      nodeOf_(nodeOf) {
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
      n.price = priceOf(id);
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
    const ValueId v = intervals_[phi.reg].valueAt(slots_.end(from).previous());
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

// Whether the register holds a 64-bit product of 32-bit numbers that is computed in this loop.
bool LoopCost::holdsWideProduct(RegId reg, InstrId at) const {
  const InstrId id = context_.analyses.valueRanges().definitionRead(reg, at);
  return id.valid() && isWideProduct(context_.module.form(f_[id]));
}

double LoopCost::priceOf(InstrId id) const {
  const OpcodeForm& form = context_.module.form(f_[id]);
  if (form.effects != effect::Pure && form.op != Op::Add) return 0;
  const RegisterClass type = info(form.type).registerClass;
  if (type == RegisterClass::F32 || type == RegisterClass::F64 || type == RegisterClass::Pred) return 0;
  const bool isWide = info(form.type).bits == 64;
  switch (form.op) {
    case Op::Mov:
    case Op::Cvta: return 0;
    case Op::Setp: return isWide ? prices_.compare64 : 1;
    case Op::Add:
    case Op::Sub: return isWide ? priceOfSum(id) : 1;
    case Op::Shl: return isWide ? 0 : 1;
    case Op::Mul:
    case Op::Mad:
      if (form.half == ProductHalf::Wide) return form.op == Op::Mad ? prices_.multiplyAddWide : prices_.wideProduct;
      return isWide ? prices_.multiply64 : 1;
    case Op::Cvt: return form.isConversion(ScalarType::s64, ScalarType::s32) ? 1 : 0;
    case Op::Min:
    case Op::Max: return isWide ? prices_.minimum64 : 1;
    default: return isWide ? prices_.logic64 : 1;
  }
}

// Of an addition or a subtraction of 64 bits.
double LoopCost::priceOfSum(InstrId id) const {
  const auto operands = f_.operandsOf(f_[id]);
  for (const Operand& o : operands)
    if (o.isRegister() && o.role == Role::Use && holdsWideProduct(o.reg(), id)) return 0;
  // A register by a constant, around the loop.
  const ExprId e =
      operands[0].isRegister() ? context_.analyses.scalarEvolution().written(operands[0].reg(), id) : ExprId();
  const ScevExpressions& expressions = context_.analyses.scalarEvolution().expressions();
  const bool isStep =
      operands.size() == 3 && operands[1].isRegister() && operands[1].payload == operands[0].payload;
  return e.valid() && isStep && expressions.isRecurrence(e, loop_)
             ? (operands[2].isRegister() ? prices_.registerStep64 : prices_.step64)
             : prices_.add64;
}

double LoopCost::needed(const std::unordered_set<uint32_t>& replaced) {
  for (Node& n : nodes_) n.isMarked = false;
  work_.clear();
  for (uint32_t n = 0; n < nodes_.size(); ++n) {
    if (!nodes_[n].isRoot) continue;
    nodes_[n].isMarked = true;
    work_.push_back(n);
  }
  double all = 0;
  while (!work_.empty()) {
    const Node n = nodes_[work_.back()];
    work_.pop_back();
    all += n.price;
    for (uint32_t s = n.firstSource; s < n.firstSource + n.sourceCount; ++s) {
      const Source& source = sources_[s];
      if (nodes_[source.node].isMarked || (source.operand != kNone && replaced.contains(source.operand))) continue;
      nodes_[source.node].isMarked = true;
      work_.push_back(source.node);
    }
  }
  return all;
}

bool LoopCost::isNeeded(RegId reg, ValueId v) const {
  const uint32_t n = nodeOf_[numbers_(reg, v)];
  return n != kNone && nodes_[n].isMarked;
}

}  // namespace ptxopt
