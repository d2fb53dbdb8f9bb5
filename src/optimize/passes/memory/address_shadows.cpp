// A worklist goes back from the uses to the values that need a shadow; each is mirrored, copied, converted, or needs
// nothing. What is gained is compared with the cost by assumed counts of blocks, and the shadows are then made in the
// order of the text.
#include "passes/memory/address_shadows.h"

#include <algorithm>
#include <set>

namespace ptxopt {
namespace {

// A conversion from generic is a subtraction of what a special register holds.
constexpr uint64_t kConversionCost = 2;

}  // namespace

InstrId AddressShadows::definition(const ValueAt& v) const {
  const LiveValue& value = context_.analyses.liveIntervals()[v.reg][v.value];
  return value.kind == ValueKind::Instruction ? context_.analyses.slotIndexes().instructionAt(value.def)
                                              : InstrId();
}

bool AddressShadows::isShadowed(const Operand& o, InstrId id) const {
  return o.isRegister() && o.role == Role::Use && spaces_.holdsAddresses(o.reg()) &&
         spaces_.read(o.reg(), id).kind == space_;
}

AddressShadows::How AddressShadows::howTo(const ValueAt& v) const {
  const InstrId id = definition(v);
  if (!id.valid()) return How::Nothing;
  const AddressState state = spaces_.of(v.reg, v.value);
  if (state.kind == AddressKind::None) return How::Nothing;
  if (state.kind != space_) return How::Copy;
  const Instruction& i = f_[id];
  const bool isPartial = context_.analyses.liveIntervals()[v.reg][v.value].isPartial;
  if (isPartial && !i.is(Instruction::Guarded)) return How::Convert;
  const OpcodeForm& form = context_.module.form(i);
  if (!form.knowsOperands()) return How::Convert;
  switch (addressOperation(form)) {
    case AddressOperation::ToGeneric: return How::Mirror;
    case AddressOperation::Copy:
    case AddressOperation::Convert:
    case AddressOperation::Choose:
    case AddressOperation::Add:
    case AddressOperation::Subtract:
    case AddressOperation::And:
    case AddressOperation::Or:
    case AddressOperation::MultiplyAdd:
    case AddressOperation::MultiplyAddWide: {
      const auto operands = f_.operandsOf(i);
      return std::ranges::any_of(operands, [&](const Operand& o) { return isShadowed(o, id); }) ? How::Mirror
                                                                                                : How::Convert;
    }
    default: return How::Convert;
  }
}

void AddressShadows::forEachSource(const ValueAt& v, auto&& visit) const {
  const LiveIntervals& intervals = context_.analyses.liveIntervals();
  const SlotIndexes& slots = context_.analyses.slotIndexes();
  const Cfg& cfg = context_.analyses.cfg();
  const LiveValue& value = intervals[v.reg][v.value];
  const InstrId id = definition(v);
  if (!id.valid()) {
    if (value.kind != ValueKind::Phi) return;
    for (const BlockId from : cfg.predecessors(slots.blockAt(value.def)))
      if (cfg[from].reachable) visit(v.reg, intervals[v.reg].valueAt(slots.last(from)));
    return;
  }
  if (how_[spaces_.index(v.reg, v.value)] != How::Mirror) return;
  if (value.isPartial) visit(v.reg, intervals[v.reg].valueIn(slots[id]));
  const bool isFirst = addressOperation(context_.module.form(f_[id])) == AddressOperation::ToGeneric;
  for (const Operand& o : f_.operandsOf(f_[id]))
    if (!isFirst && isShadowed(o, id)) visit(o.reg(), intervals[o.reg()].valueIn(slots[id]));
}

void AddressShadows::need(RegId r, ValueId v) {
  if (!v.valid() || how_[spaces_.index(r, v)] != How::Unneeded) return;
  how_[spaces_.index(r, v)] = howTo({r, v});
  needed_.push_back({r, v});
}

void AddressShadows::findNeeded() {
  const SlotIndexes& slots = context_.analyses.slotIndexes();
  const LiveIntervals& intervals = context_.analyses.liveIntervals();
  how_.assign(spaces_.size(), How::Unneeded);
  for (const ShadowUse& u : uses_) {
    const RegId r = f_.operandsOf(f_[u.at])[u.operand].reg();
    need(r, intervals[r].valueIn(slots[u.at]));
  }
  for (std::size_t at = 0; at < needed_.size(); ++at) {
    const ValueAt v = needed_[at];
    forEachSource(v, [&](RegId r, ValueId source) { need(r, source); });
  }
}

void AddressShadows::findKept() {
  const SlotIndexes& slots = context_.analyses.slotIndexes();
  const LiveIntervals& intervals = context_.analyses.liveIntervals();
  isKept_.assign(spaces_.size(), false);
  std::vector<ValueAt> work;
  const auto keep = [&](RegId r, ValueId v) {
    if (!v.valid() || how_[spaces_.index(r, v)] == How::Unneeded || isKept_[spaces_.index(r, v)]) return;
    isKept_[spaces_.index(r, v)] = true;
    work.push_back({r, v});
  };
  std::set<std::pair<InstrId, uint32_t>> replaced;
  for (const ShadowUse& u : uses_) replaced.insert({u.at, u.operand});
  for (const InstrId id : f_) {
    if (!f_[id].isInstruction() || !slots[id].valid()) continue;
    const auto operands = f_.operandsOf(f_[id]);
    bool isMirrored = false;
    for (const Operand& o : operands)
      if (o.isRegister() && o.writes() && spaces_.holdsAddresses(o.reg()))
        if (const ValueId v = intervals[o.reg()].valueOut(slots[id]); v.valid())
          isMirrored |= how_[spaces_.index(o.reg(), v)] == How::Mirror;
    if (isMirrored) continue;  // it goes, unless its own result is kept
    for (uint32_t k = 0; k < operands.size(); ++k) {
      const Operand& o = operands[k];
      if (o.isRegister() && o.role == Role::Use && spaces_.holdsAddresses(o.reg()) && !replaced.contains({id, k}))
        keep(o.reg(), intervals[o.reg()].valueIn(slots[id]));
    }
  }
  for (const ValueAt& v : needed_) {
    const How how = how_[spaces_.index(v.reg, v.value)];
    if (how == How::Copy || how == How::Convert) keep(v.reg, v.value);
  }
  for (std::size_t at = 0; at < work.size(); ++at) {
    const ValueAt v = work[at];
    forEachSource(v, keep);
  }
}

uint64_t AddressShadows::weightAt(InstrId id) const {
  return context_.analyses.loops().assumedCount(context_.analyses.cfg().blockOf(id));
}

bool AddressShadows::isWorthIt() {
  findNeeded();
  findKept();
  uint64_t gain = 0, cost = 0;
  for (const ShadowUse& u : uses_) gain += weightAt(u.at);
  for (const ValueAt& v : needed_) {
    const std::size_t index = spaces_.index(v.reg, v.value);
    if (how_[index] == How::Convert) cost += kConversionCost * weightAt(definition(v));
    if (how_[index] != How::Mirror || !isKept_[index]) continue;
    const auto operation = addressOperation(context_.module.form(f_[definition(v)]));
    if (operation != AddressOperation::ToGeneric && operation != AddressOperation::Copy)
      cost += weightAt(definition(v));
  }
  return cost <= gain;
}

RegId AddressShadows::shadowOf(RegId r) {
  RegId& shadow = shadows_[r.value];
  if (!shadow.valid()) shadow = f_.makeRegister(ScalarType::b64);
  return shadow;
}

void AddressShadows::mirror(const ValueAt& v) {
  const InstrId id = definition(v);
  const auto source = f_.operandsOf(f_[id]);
  std::vector<Operand> operands(source.begin(), source.end());
  OpcodeId opcode = f_[id].opcode();
  const bool isFirst = addressOperation(context_.module.form(f_[id])) == AddressOperation::ToGeneric;
  if (isFirst) opcode = context_.module.synthOpcode(SynthOpcode::MovB64);
  for (Operand& o : operands) {
    if (!o.isRegister() || o.is(Operand::Guard)) continue;
    if (o.writes() || (!isFirst && isShadowed(o, id))) o.payload = shadowOf(o.reg()).value;
  }
  f_.insert(id, opcode, operands);
}

void AddressShadows::insertAfter(const ValueAt& v, OpcodeId opcode) {
  const InstrId id = definition(v);
  const Operand operands[] = {defOperand(shadowOf(v.reg)), useOperand(v.reg)};
  f_.insert(f_[id].next, opcode, operands);
}

void AddressShadows::apply() {
  shadows_.resize(f_.registers.size());
  // In the order of the text, whatever the uses were found in.
  const LiveIntervals& intervals = context_.analyses.liveIntervals();
  std::ranges::sort(needed_, [&](const ValueAt& a, const ValueAt& b) {
    const SlotIndex at = intervals[a.reg][a.value].def, bt = intervals[b.reg][b.value].def;
    return at != bt ? at < bt : a.reg < b.reg;
  });
  const SynthOpcode conversion = space_ == AddressKind::Shared  ? SynthOpcode::CvtaToSharedU64
                                 : space_ == AddressKind::Local ? SynthOpcode::CvtaToLocalU64
                                                                : SynthOpcode::CvtaToConstU64;
  for (const ValueAt& v : needed_) {
    switch (how_[spaces_.index(v.reg, v.value)]) {
      case How::Mirror: mirror(v); break;
      case How::Copy: insertAfter(v, context_.module.synthOpcode(SynthOpcode::MovB64)); break;
      case How::Convert: insertAfter(v, context_.module.synthOpcode(conversion)); break;
      case How::Nothing:
      case How::Unneeded: break;
    }
  }
  for (const ShadowUse& u : uses_) {
    Operand& o = f_.operands[f_[u.at].firstOperand + u.operand];
    o.payload = shadowOf(o.reg()).value;
    f_[u.at].payload = u.opcode.value;
    f_.touch(u.at);
  }
}

}  // namespace ptxopt
