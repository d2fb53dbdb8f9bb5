// Each instruction is first classed by its effect on global memory, and the first that cannot be bounded declines the
// kernel. The bounds of an access are those of its base, moved by the constant offset and the size.
#include "analysis/addresses/footprint.h"

#include <algorithm>

#include "analysis/addresses/polled_loads.h"
#include "analysis/addresses/value_bounds.h"
#include "analysis/values/plain_operands.h"
#include "ir/opcode_predicates.h"

namespace ptxopt {
namespace {

// Memory that is not global, whatever the address.
bool isElsewhereBySpace(StateSpace s) { return !isGlobalOrGeneric(s); }

}  // namespace

Footprints::Footprints(const Module& module, const Function& kernel, Analyses& analyses)
    : module_(module),
      f_(kernel),
      analyses_(analyses),
      memory_(module, kernel, analyses.cfg(), analyses.slotIndexes(), analyses.liveIntervals()),
      spaces_(module, kernel, analyses.cfg(), analyses.slotIndexes(), analyses.liveIntervals(), nullptr) {
  const Cfg& cfg = analyses.cfg();
  if (!f_.isEntry || f_.hidesNames || f_.hidesSpecialRegisters || cfg.roots().size() != 1) {
    declined_ = "entry";
    return;
  }
  if (module.addressSize != 64) {
    declined_ = "address-size";
    return;
  }
  if (std::ranges::any_of(module.opcodes, [](const OpcodeForm& o) { return o.op == Op::Griddepcontrol; })) {
    declined_ = "early-start";
    return;
  }
  const SlotIndexes& slots = analyses.slotIndexes();
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    if (!cfg[BlockId(b)].reachable) continue;
    for (const InstrId id : slots.instructions(BlockId(b))) {
      if (!f_[id].isInstruction()) continue;
      const Effect effect = effectOf(id);
      if (effect == Effect::Declined) return;
      if (effect == Effect::None) continue;
      Footprint footprint{.access = id,
                          .block = BlockId(b),
                          .isWrite = effect == Effect::Write,
                          .parameters = memory_.accessed(id),
                          .assumptions = BoundAssumptions(terms_)};
      all_.push_back(std::move(footprint));
    }
  }
  const std::vector<bool> isPolled = findPolledLoads(module, kernel, analyses);
  if (std::ranges::any_of(all_, [&](const Footprint& f) { return !f.isWrite && isPolled[f.access.value]; })) {
    declined_ = "polled";
    return;
  }
  ValueBounds bounds(module, kernel, analyses, terms_);
  for (Footprint& footprint : all_) findBounds(footprint, bounds);
}

// Whether something reads a register that an atomic operation writes its result to.
bool Footprints::readsResult(InstrId id) {
  if (isRead_.empty()) {
    isRead_.resize(f_.registers.size());
    for (const InstrId i : f_) {
      if (!f_[i].isInstruction()) continue;
      // What a guarded instruction leaves where it does not run is not a use of it.
      const OpcodeForm& form = module_.form(f_[i]);
      const PlainOperands plain(f_.operandsOf(f_[i]));
      const bool isResult = form.op == Op::Atom && form.knowsOperands() && plain.size() != 0;
      for (const Operand& o : f_.operandsOf(f_[i])) {
        const bool isOwn = isResult && &o >= plain[0].data() && &o < plain[0].data() + plain[0].size();
        if (o.isRegister() && o.reads() && !isOwn) isRead_[o.payload] = true;
      }
    }
  }
  return std::ranges::any_of(f_.operandsOf(f_[id]),
                             [&](const Operand& o) { return o.isRegister() && o.writes() && isRead_[o.payload]; });
}

// What an access without a space reaches is shared or local memory.
bool Footprints::isElsewhere(InstrId id) const {
  const OpcodeForm& form = module_.form(f_[id]);
  if (isElsewhereBySpace(form.space)) return true;
  const AddressKind kind = form.space == StateSpace::None ? spaces_.accessed(id) : AddressKind::Unknown;
  return kind == AddressKind::Shared || kind == AddressKind::Local;
}

Footprints::Effect Footprints::writes(InstrId id) { return isElsewhere(id) ? Effect::None : Effect::Write; }

// Copies in the background write global memory unless they say where they write.
Footprints::Effect Footprints::copies(const OpcodeForm& form) {
  const bool isToShared = isOwnShared(form.space) || form.space == StateSpace::SharedCluster;
  return isToShared ? Effect::None : decline("background-copy");
}

Footprints::Effect Footprints::effectOf(InstrId id) {
  const OpcodeForm& form = module_.form(f_[id]);
  if (form.is(effect::Unknown)) return decline("unknown-opcode");
  if (form.is(effect::Call)) return decline("call");
  switch (form.op) {
    case Op::Ld:
      if (isElsewhere(id)) return Effect::None;
      return form.is(~uint32_t{effect::Read}) ? decline("ordered-load") : Effect::Read;
    case Op::St: return writes(id);
    case Op::Red:
    case Op::Atom: {
      if (isElsewhere(id)) return Effect::None;
      const MemoryOrder order = form.order;
      if (order != MemoryOrder::None && order != MemoryOrder::Relaxed && order != MemoryOrder::Release)
        return decline("acquire");
      if (form.op == Op::Atom && readsResult(id)) return decline("atomic-result");
      return Effect::Write;
    }
    case Op::Fence:
    case Op::Membar:
      return form.scope == MemoryScope::Cta || isOwnShared(form.space) ? Effect::None : decline("fence");
    case Op::Bar:
    case Op::BarRed:
    case Op::Barrier:
    case Op::BarrierRed:
    case Op::BarrierCluster:
    case Op::Trap:
    case Op::Setmaxnreg:
    case Op::Stmatrix:
    case Op::Ldmatrix:
    case Op::WgmmaCommitGroup:
    case Op::WgmmaFence:
    case Op::WgmmaMmaAsync:
    case Op::WgmmaWaitGroup:
    // For shared memory.
    case Op::MbarrierArrive:
    case Op::MbarrierArriveExpectTx:
    case Op::MbarrierInit:
    case Op::MbarrierInval:
    case Op::MbarrierTestWait:
    case Op::MbarrierTryWait:
    case Op::CpAsyncMbarrierArrive:
    case Op::CpAsyncCommitGroup:
    case Op::CpAsyncWaitAll:
    case Op::CpAsyncWaitGroup:
    case Op::CpAsyncBulkCommitGroup:
    case Op::CpAsyncBulkWaitGroup: return Effect::None;
    case Op::CpAsync:
    case Op::CpAsyncBulk:
    case Op::CpAsyncBulkTensor: return copies(form);
    default: break;
  }
  if (hasNoMemoryEffect(form)) return Effect::None;
  // For shared memory and tensor memory; those without a row are not known.
  if (form.family == Op::Tcgen05 && form.op != Op::Tcgen05) return Effect::None;
  return decline("other-opcode");
}

void Footprints::findBounds(Footprint& footprint, ValueBounds& bounds) {
  const auto operands = f_.operandsOf(f_[footprint.access]);
  const auto memory = std::ranges::find(operands, OperandKind::Memory, &Operand::kind);
  if (memory == operands.end() || memory->inside() == 0 || memory->inside() > 2) {
    footprint.why = "address-form";
    return;
  }
  const Operand& base = *(memory + 1);
  if (base.kind == OperandKind::Symbol || base.kind == OperandKind::Variable) {
    footprint.why = "variable";
    return;
  }
  int64_t offset = 0;
  if (memory->inside() == 2) {
    const Operand& added = *(memory + 2);
    const auto bits = immediate(f_, added);
    constexpr int64_t kFar = int64_t{1} << 40;
    const auto number = bits ? static_cast<int64_t>(*bits) : 0;
    if (!bits || number < -kFar || number > kFar || (added.join != Join::Plus && added.join != Join::Minus)) {
      footprint.why = "address-form";
      return;
    }
    offset = added.join == Join::Plus ? number : -number;
  }
  ScalarEvolution& evolution = analyses_.scalarEvolution();
  const ExprId address =
      base.isRegister() && base.flags == 0 ? evolution.read(base.reg(), footprint.access) : ExprId();
  if (!address.valid() || evolution.expressions()[address].width != 64) {
    footprint.why = "address-form";
    return;
  }
  const OpcodeForm& form = module_.form(f_[footprint.access]);
  footprint.bytes = form.vector * info(form.type).bits / 8;
  if (footprint.bytes == 0) {
    footprint.why = "address-form";
    return;
  }
  const ValueBound bound = bounds.of(address, NumberKind::Any, footprint.block, footprint.assumptions);
  if (!bound.isKnown()) {
    footprint.why = bounds.why();
    return;
  }
  footprint.least = terms_.addConstant(bound.least, offset);
  footprint.end = terms_.addConstant(bound.most, offset + footprint.bytes);
  if (!footprint.least.valid() || !footprint.end.valid() || !footprint.assumptions.assumeFits(footprint.least) ||
      !footprint.assumptions.assumeFits(footprint.end) || !footprint.assumptions.assumeTestsFit())
    footprint.why = "wraps";
}

}  // namespace ptxopt
