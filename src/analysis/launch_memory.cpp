#include "analysis/launch_memory.h"

#include <algorithm>

namespace ptxopt {
namespace {

bool hasModifier(std::string_view opcode, std::string_view modifier) {
  for (std::size_t at = opcode.find(modifier); at != std::string_view::npos; at = opcode.find(modifier, at + 1)) {
    const std::size_t end = at + modifier.size();
    if (end == opcode.size() || opcode[end] == '.' || opcode[end] == ':') return true;
  }
  return false;
}

bool isIn(std::string_view opcode, std::initializer_list<std::string_view> spaces) {
  return std::ranges::any_of(spaces, [&](std::string_view space) { return hasModifier(opcode, space); });
}

}  // namespace

LaunchMemory::LaunchMemory(const Module& module, const Function& function, const Cfg& cfg)
    : module_(module), f_(function), cfg_(cfg), asLaunched_(function.instructions.size()) {
  effects_.reserve(module.opcodes.size());
  for (const OpcodeForm& form : module.opcodes) effects_.push_back(effectOf(form));
  for (const InstrId id : f_)
    if (f_[id].isInstruction() && isConstant(id)) asLaunched_[id.value] = true;
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
        if (isWeakLoad(module_.form(f_[id]))) asLaunched_[id.value] = true;
      }
      if (id == cfg_[BlockId(b)].last) break;
    }
  }
}

// By block: whether global memory may have changed when control comes there. `meetsBarrier`: a barrier may be met
// behind a change, perhaps in what is called.
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
        meetsBarrier |= module_.form(f_[id]).row == nullptr || module_.form(f_[id]).is(effect::Call);
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
  const std::string_view opcode = module_.text(module_.form(f_[id]).text);
  return opcode.starts_with("ld.global") && hasModifier(opcode, ".nc") && isWeakLoad(module_.form(f_[id]));
}

bool LaunchMemory::isWeakLoad(const OpcodeForm& form) const {
  if (form.row == nullptr || form.row->key != "ld" || form.is(~uint32_t{effect::Read})) return false;
  return !isIn(module_.text(form.text), {".shared", ".local", ".param", ".const"});
}

GlobalEffect LaunchMemory::effectOf(InstrId id) const { return effects_[f_[id].payload]; }

GlobalEffect LaunchMemory::effectOf(const OpcodeForm& form) const {
  if (form.row == nullptr || form.is(effect::Unknown)) return GlobalEffect::Changes;
  const std::string_view base = form.row->base();
  if (base == "bar" || base == "barrier") return GlobalEffect::Barrier;
  // Kept by ptxas when dead, which is all that Side means here; or of no memory.
  constexpr std::string_view kHarmless[] = {"div",      "rem",        "rcp",   "rsqrt",    "sqrt",
                                            "isspacep", "activemask", "elect", "prefetch", "prefetchu"};
  if (std::ranges::find(kHarmless, base) != std::end(kHarmless)) return GlobalEffect::None;
  if (form.row->key == "st" && !form.is(~uint32_t{effect::Write}) &&
      isIn(module_.text(form.text), {".shared", ".local", ".param"}))
    return GlobalEffect::None;
  constexpr uint32_t kNothing = effect::Read | effect::CarryIn | effect::CarryOut | effect::Convergent |
                                effect::Branch | effect::IndirectBranch | effect::Return | effect::Exit;
  return form.is(~kNothing) ? GlobalEffect::Changes : GlobalEffect::None;
}

}  // namespace ptxopt
