// A forward search over the blocks says where global memory may have changed. It runs with barriers as harmless first,
// and again with barriers as changes where one may be met after a change.
#include "analysis/addresses/launch_memory.h"

#include "analysis/addresses/address_spaces.h"
#include "ir/opcode_predicates.h"

namespace ptxopt {
LaunchMemory::LaunchMemory(const Module& module, const Function& function, const Cfg& cfg,
                           const AddressSpaces* spaces)
    : module_(module), f_(function), cfg_(cfg), spaces_(spaces), isUnwritten_(function.instructions.size()) {
  effects_.reserve(module.opcodes.size());
  for (const OpcodeForm& form : module.opcodes) effects_.push_back(effectOf(form));
  for (const InstrId id : f_)
    if (f_[id].isInstruction() && isConstant(id)) isUnwritten_[id.value] = true;
  // Functions are called in the middle of things.
  if (!f_.isEntry || cfg_.roots().size() != 1) return;
  bool meetsBarrier = false;
  std::vector<bool> changed = changedBlocks(false, meetsBarrier);
  const bool barriersChange = meetsBarrier;
  if (barriersChange) changed = changedBlocks(true, meetsBarrier);
  for (uint32_t b = 0; b < cfg_.size(); ++b) {
    if (!cfg_[BlockId(b)].reachable || changed[b]) continue;
    for (InstrId id = cfg_[BlockId(b)].first; id.valid(); id = f_[id].next) {
      if (f_[id].isInstruction()) {
        const GlobalEffect effect = effectOf(id);
        if (effect == GlobalEffect::Changes || (effect == GlobalEffect::Barrier && barriersChange)) break;
        if (isWeakLoad(module_.form(f_[id]))) isUnwritten_[id.value] = true;
      }
      if (id == cfg_[BlockId(b)].last) break;
    }
  }
}

// By block: whether global memory may have changed when control comes there. `meetsBarrier`: a barrier may be met
// after a change, perhaps in what is called.
std::vector<bool> LaunchMemory::changedBlocks(bool barriersChange, bool& meetsBarrier) const {
  std::vector<bool> in(cfg_.size()), reached(cfg_.size());
  std::vector<BlockId> work = cfg_.roots();
  for (const BlockId b : work) reached[b.value] = true;
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    bool changed = in[b.value];
    for (InstrId id = cfg_[b].first; id.valid(); id = f_[id].next) {
      if (f_[id].isInstruction()) {
        const GlobalEffect effect = effectOf(id);
        if (effect == GlobalEffect::Barrier) {
          meetsBarrier |= changed;
          changed |= barriersChange;
        }
        changed |= effect == GlobalEffect::Changes;
        meetsBarrier |= module_.form(f_[id]).is(effect::Call | effect::Unknown);
      }
      if (id == cfg_[b].last) break;
    }
    for (const BlockId to : cfg_.successors(b)) {
      if (reached[to.value] && (!changed || in[to.value])) continue;
      reached[to.value] = true;
      in[to.value] = in[to.value] || changed;
      work.push_back(to);
    }
  }
  return in;
}

bool LaunchMemory::isConstant(InstrId id) const {
  const OpcodeForm& form = module_.form(f_[id]);
  return form.space == StateSpace::Global && form.has(ModifierFlag::NonCoherent) && isWeakLoad(form);
}

bool LaunchMemory::isWeakLoad(const OpcodeForm& form) const {
  return form.op == Op::Ld && !form.is(~uint32_t{effect::Read}) && isGlobalOrGeneric(form.space);
}

// For a weak load whose space is .global or none: whether it is global memory.
bool LaunchMemory::readsGlobal(InstrId id) const {
  if (module_.form(f_[id]).space == StateSpace::Global) return true;
  return spaces_ != nullptr && spaces_->accessed(id) == AddressKind::Global;
}

GlobalEffect LaunchMemory::effectOf(InstrId id) const { return effects_[f_[id].payload]; }

GlobalEffect LaunchMemory::effectOf(const OpcodeForm& form) const {
  if (form.is(effect::Unknown)) return GlobalEffect::Changes;
  switch (form.op) {
    case Op::Bar:
    case Op::BarRed:
    case Op::Barrier:
    case Op::BarrierCluster:
    case Op::BarrierRed: return GlobalEffect::Barrier;
    case Op::St:
      if (!form.is(~uint32_t{effect::Write}) && !isGlobalOrGeneric(form.space)) return GlobalEffect::None;
      break;
    default: break;
  }
  return hasNoMemoryEffect(form) ? GlobalEffect::None : GlobalEffect::Changes;
}

}  // namespace ptxopt
