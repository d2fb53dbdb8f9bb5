// An instruction that a load passes is free, a store, slow, or a wall. A store is compared with the load by state space
// first and by address after that.
#include "passes/memory/load_order.h"

#include <algorithm>

#include "ir/opcode_predicates.h"
#include "ir/pragmas.h"

namespace ptxopt {
namespace {

constexpr unsigned kHarmless =
    field::Space | field::Order | field::Vector | field::Cache | field::CacheHint | field::Flag;

bool isWeak(const OpcodeForm& form) {
  return form.hasOnly(kHarmless) && (form.order == MemoryOrder::None || form.order == MemoryOrder::Weak) &&
         form.cache != CacheOperator::NoCache && form.cache != CacheOperator::WriteThrough &&
         form.cache != CacheOperator::LastUse && form.typeCount == 1 && info(form.type).bits % 8 == 0 &&
         (form.flags & ~(1u << static_cast<unsigned>(ModifierFlag::NonCoherent))) == 0;
}

bool isOneOf(StateSpace s, std::initializer_list<StateSpace> all) { return std::ranges::find(all, s) != all.end(); }

// For memory that a store may name.
bool isOfData(StateSpace s) {
  return isOwnShared(s) || isOneOf(s, {StateSpace::None, StateSpace::Global, StateSpace::Local});
}

unsigned bytesOf(const OpcodeForm& form) { return form.vector * info(form.type).bits / 8; }

uint32_t addressOf(const Function& f, InstrId id) {
  const auto operands = f.operandsOf(f[id]);
  const auto at = std::ranges::find(operands, OperandKind::Memory, &Operand::kind);
  return static_cast<uint32_t>(at - operands.begin());
}

}  // namespace

LoadBarrier LoadOrder::barrier(InstrId id) const {
  const Instruction& i = f_[id];
  switch (i.kind) {
    case InstrKind::Instruction: break;
    case InstrKind::ScopeOpen:
    case InstrKind::ScopeClose:
    case InstrKind::Loc: return LoadBarrier::Free;
    case InstrKind::Declaration: {
      const DeclarationForm& form = module_.declarationForms[f_.declarations[i.payload].form];
      return form.space == DeclaredSpace::Reg ? LoadBarrier::Free : LoadBarrier::Wall;
    }
    case InstrKind::Pragma:
      return isUsedBytesMask(module_, i) && isBeforeLoad(id) ? LoadBarrier::Free : LoadBarrier::Wall;
    default: return LoadBarrier::Wall;
  }
  const OpcodeForm& form = module_.form(i);
  if (!form.knowsOperands()) return LoadBarrier::Wall;
  const bool readsWhatChanges = std::ranges::any_of(f_.operandsOf(i), [](const Operand& o) {
    return o.kind == OperandKind::SpecialRegister && o.is(Operand::VolatileRead);
  });
  if (readsWhatChanges || form.cache == CacheOperator::NoCache) return LoadBarrier::Wall;
  if (becomesCall(form)) return LoadBarrier::Slow;
  if (form.op == Op::St)
    return form.effects == effect::Write && isWeak(form) && isOfData(form.space) ? LoadBarrier::Store
                                                                                 : LoadBarrier::Wall;
  return form.is(effect::kKeep) ? LoadBarrier::Wall : LoadBarrier::Free;
}

// One before something else would describe a load that what stands between goes away from.
bool LoadOrder::isBeforeLoad(InstrId pragma) const {
  InstrId id = f_[pragma].next;
  while (id.valid() && f_[id].kind == InstrKind::Loc) id = f_[id].next;
  return id.valid() && f_[id].isInstruction() && module_.form(f_[id]).op == Op::Ld;
}

bool LoadOrder::isMovable(InstrId id) const {
  const OpcodeForm& form = module_.form(f_[id]);
  if (form.op != Op::Ld || form.effects != effect::Read || !isWeak(form)) return false;
  if (usedBytesMaskOf(module_, f_, id).valid()) return false;
  return isOfData(form.space) || form.space == StateSpace::Const || isParameterOfKernel(id);
}

bool LoadOrder::isParameterOfKernel(InstrId load) const {
  const OpcodeForm& form = module_.form(f_[load]);
  if (!f_.isEntry || !isOneOf(form.space, {StateSpace::Param, StateSpace::ParamEntry})) return false;
  const auto operands = f_.operandsOf(f_[load]);
  const uint32_t address = addressOf(f_, load);
  if (address + 1 >= operands.size()) return false;
  const Operand& base = operands[address + 1];
  return base.kind == OperandKind::Variable && f_.variables[base.payload].isParameter;
}

bool LoadOrder::mayWrite(InstrId store, InstrId load) {
  const OpcodeForm& written = module_.form(f_[store]);
  const OpcodeForm& read = module_.form(f_[load]);
  if (!isOfData(read.space) || read.has(ModifierFlag::NonCoherent)) return false;
  const bool sameSpace = written.space == read.space || (isOwnShared(written.space) && isOwnShared(read.space));
  if (!sameSpace) return written.space == StateSpace::None || read.space == StateSpace::None;
  return !areApart(store, load);
}

bool LoadOrder::areApart(InstrId store, InstrId load) {
  if (!addresses_) addresses_.emplace(f_, context_);
  const auto written = addresses_->of(store, addressOf(f_, store));
  const auto read = addresses_->of(load, addressOf(f_, load));
  return written && read &&
         addresses_->areApart(*written, bytesOf(module_.form(f_[store])), *read, bytesOf(module_.form(f_[load])));
}

}  // namespace ptxopt
