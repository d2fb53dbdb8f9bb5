#include "inserter.h"

#include <algorithm>

namespace coalescing {

namespace effect = ptxopt::effect;
using ptxopt::InstrKind;
using ptxopt::OperandKind;
using ptxopt::Role;

Inserter::Inserter(Module& module, Function& function, const Options& options)
    : options_(options),
      editor_(module, function),
      module_(module),
      f_(function),
      random_(options.seed),
      edgeRandom_(options.seed + 0x1000000),
      copier_(editor_, options.seed + 0x2000000, options.forms, options.times, !options.frame) {}

Counts Inserter::run() {
  findLeftAlone();
  findNested();
  if (options_.mode == Mode::Edges || options_.mode == Mode::Parallel || options_.mode == Mode::Mixed)
    insertBetweenBlocks();
  const bool atInstructions = options_.mode != Mode::Edges && options_.mode != Mode::Parallel;
  if (atInstructions && !options_.frame)
    for (uint32_t i = 0; i < f_.sourceInstructions; ++i) insertAtInstruction(InstrId(i));
  counts_.copies = copier_.inserted();
  return counts_;
}

void Inserter::findLeftAlone() {
  leftAlone_.assign(f_.registers.size(), 0);
  for (const InstrId id : f_) {
    if (!f_[id].isInstruction() || !module_.form(f_[id]).is(effect::Async)) continue;
    const auto operands = f_.operandsOf(f_[id]);
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].kind == OperandKind::Memory)
        k += operands[k].inside();  // addresses are read at once
      else if (operands[k].isRegister() && !operands[k].is(Operand::Guard))
        leftAlone_[operands[k].payload] = 1;
    }
  }
}

// A register that is mentioned at the outermost level is declared there, and known everywhere but where an inner
// scope has one of its name.
void Inserter::findNested() {
  isNested_.assign(f_.registers.size(), 1);
  for (std::size_t r = 0; r < f_.registers.size(); ++r)
    if (f_.registers[r].isParameter) isNested_[r] = 0;
  std::size_t depth = 0;
  for (const InstrId id : f_) {
    depth += f_[id].kind == InstrKind::ScopeOpen;
    depth -= f_[id].kind == InstrKind::ScopeClose;
    if (depth != 0 || !f_[id].isInstruction()) continue;
    for (const Operand& o : f_.operandsOf(f_[id]))
      if (o.isRegister()) isNested_[o.payload] = 0;
  }
  std::vector<RegId> named(module_.names.size());
  for (uint32_t r = 0; r < f_.registers.size(); ++r) {
    const ptxopt::NameId name = f_.registers[r].name;
    if (!name.valid()) continue;
    RegId& first = named[name.value];
    if (first.valid())
      isNested_[r] = isNested_[first.value] = 1;
    else
      first = RegId(r);
  }
}

bool Inserter::isWanted() { return static_cast<double>(random_.word()) < options_.density * 0x1p32; }

// Which of the two kinds at instructions.
Mode Inserter::drawMode() {
  if (options_.mode != Mode::Mixed) return options_.mode;
  return random_.chance(50) ? Mode::Definitions : Mode::Uses;
}

// A pragma that describes the instruction behind it stays with it.
Place Inserter::inFrontOf(InstrId id) const {
  for (InstrId p = f_[id].previous; p.valid(); p = f_[p].previous) {
    if (f_[p].kind == InstrKind::Pragma &&
        module_.text(ptxopt::NameId(f_[p].payload)).find("used_bytes_mask") != std::string_view::npos)
      return editor_.inFrontOf(p);
    if (f_[p].kind != InstrKind::Loc) break;
  }
  return editor_.inFrontOf(id);
}

void Inserter::insertAtInstruction(InstrId id) {
  const Instruction& i = f_[id];
  if (!i.isInstruction() || i.is(Instruction::Erased) || !module_.form(i).knowsOperands()) return;
  std::vector<std::pair<RegId, RegId>> renamed;
  for (std::size_t k = 0; k < f_[id].operandCount; ++k) {
    const auto operands = f_.operandsOf(f_[id]);
    const Operand o = operands[k];  // a copy: inserting moves the operands
    if (!o.isRegister() || o.is(Operand::Implicit) || o.role == Role::None || !mayCopy(o.reg())) continue;
    if (k + 1 < operands.size() && operands[k + 1].kind == OperandKind::Selector) continue;
    // Both halves of `{%r1, %r1}` are one register, and stay one.
    const auto known =
        std::find_if(renamed.begin(), renamed.end(), [&](const auto& r) { return r.first == o.reg(); });
    if (o.writes() && known != renamed.end()) {
      f_.operandsOf(f_[id])[k].payload = known->second.value;
      continue;
    }
    const Mode mode = drawMode();
    if (!isWanted()) continue;
    if (mode == Mode::Uses && o.role == Role::Use) copyUse(id, k);
    if (o.role == Role::Mod && !options_.guarded) continue;
    if (mode == Mode::Definitions && o.writes()) copyDefinition(id, k, renamed);
  }
}

void Inserter::copyUse(InstrId id, std::size_t operand) {
  const Operand o = f_.operandsOf(f_[id])[operand];
  const RegId copy = copier_.fresh(o.reg());
  copier_.copy(inFrontOf(id), copy, o.reg());
  f_.operandsOf(f_[id])[operand].payload = copy.value;
  f_.touch(id);
  ++counts_.places;
}

// A definition under a guard leaves the old value where the guard is false: its copy runs under the guard, too, or
// the new register holds the old value before.
void Inserter::copyDefinition(InstrId id, std::size_t operand, std::vector<std::pair<RegId, RegId>>& renamed) {
  const auto operands = f_.operandsOf(f_[id]);
  const RegId old = operands[operand].reg();
  const bool keepsOld = operands[operand].role == Role::Mod;
  const bool isGuarded = f_[id].is(Instruction::Guarded);
  const bool writesGuard = isGuarded && std::any_of(operands.begin(), operands.end(), [&](const Operand& o) {
                             return o.isRegister() && o.writes() && o.reg() == operands[0].reg();
                           });
  // What is no more than guarded: wgmma's accumulators would be tied as well, and those are not changed.
  const bool copiesUnderGuard = keepsOld && isGuarded && !writesGuard && random_.chance(50);
  const Guard guard = copiesUnderGuard ? Guard{operands[0].reg(), operands[0].is(Operand::Not)} : Guard();
  const RegId made = copier_.fresh(old);
  if (keepsOld && !copiesUnderGuard) copier_.plain(inFrontOf(id), made, old);
  copier_.copy(editor_.behind(id), old, made, guard);
  f_.operandsOf(f_[id])[operand].payload = made.value;
  f_.touch(id);
  renamed.emplace_back(old, made);
  ++counts_.places;
}

}  // namespace coalescing
