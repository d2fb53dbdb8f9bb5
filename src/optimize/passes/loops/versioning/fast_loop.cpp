// The checks before the loop branch to the old loop, and the values of the first iteration are loaded into registers.
// The copy's iteration has loads replaced and stores dropped; last stores follow it.
#include "passes/loops/versioning/fast_loop.h"

#include <algorithm>

#include "passes/util/insert_copy.h"

namespace ptxopt {

FastLoop::FastLoop(Function& f, const Module& module, const Block& block, BlockId entry,
                   const LoopAccesses& accesses, const RedundantAccesses& redundant)
    : f_(f),
      module_(module),
      block_(block),
      entry_(entry),
      accesses_(accesses),
      redundant_(redundant),
      place_(block.first) {}

void FastLoop::put(SynthOpcode opcode, std::initializer_list<Operand> operands) {
  f_.insert(place_, module_.synthOpcode(opcode), std::vector<Operand>(operands));
}

void FastLoop::check(Expander& expander, ScevExpressions& e, const RunTimeCheck& c) {
  const ExpansionPlace place{entry_, place_};
  const RegId holds = f_.makeRegister(ScalarType::pred);
  bool isInverted = !c.mustHold;
  if (c.kind == RunTimeCheck::Kind::Multiple) {
    const RegId rest = f_.makeRegister(ScalarType::b64);
    put(SynthOpcode::AndB64, {defOperand(rest), useOperand(expander.emit(c.left, place)),
                              f_.numberOperand(static_cast<int64_t>(e[c.right].constant - 1))});
    put(SynthOpcode::SetpEqS64, {defOperand(holds), useOperand(rest), integerOperand(0)});
  } else {
    const RegId left = expander.emit(c.left, place);
    const bool isSigned = c.kind == RunTimeCheck::Kind::LessSigned;
    const Operand right = e.isConstant(c.right) ? f_.numberOperand(static_cast<int64_t>(e[c.right].constant))
                                                : useOperand(expander.emit(c.right, place));
    put(isSigned ? SynthOpcode::SetpLtS64 : SynthOpcode::SetpGeU64, {defOperand(holds), useOperand(left), right});
    isInverted ^= !isSigned;
  }
  const auto flags = static_cast<uint8_t>(Operand::Guard | (isInverted ? 0 : Operand::Not));
  put(SynthOpcode::Bra, {registerOperand(holds, Role::Use, Join::None, flags),
                         {.kind = OperandKind::Label, .payload = f_[place_].payload}});
}

RegId FastLoop::makeLike(std::size_t access) {
  return f_.makeRegister(f_.registers[redundant_.value(access).value].type);
}

RegId FastLoop::kept(std::size_t access) {
  RegId& r = kept_[access];
  if (!r.valid()) r = makeLike(access);
  return r;
}

void FastLoop::prepare(Expander& expander, ScevExpressions& e, const RunTimeChecks& checks) {
  for (const RunTimeCheck& c : checks.all()) check(expander, e, c);
  const ExpansionPlace place{entry_, place_};
  // The operands of an access, with its address in the first iteration.
  const auto operandsAt = [&](std::size_t access) {
    const LoopAccess& a = accesses_.all()[access];
    const RegId base = expander.emitToKeep(accesses_.group(a.group).start, place);
    const auto operands = f_.operandsOf(f_[a.id]);
    std::vector<Operand> made;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (k != a.memory) {
        made.push_back(operands[k]);
        continue;
      }
      Operand memory = operands[k], offset = integerOperand(static_cast<int32_t>(a.offset), Join::Plus);
      k += memory.inside();
      memory.payload = a.offset == 0 ? 1 : 2;
      made.push_back(memory);
      made.push_back(registerOperand(base, Role::Use));
      if (a.offset != 0) made.push_back(offset);
    }
    return made;
  };
  for (const RedundantLoad& load : redundant_.loads()) {
    if (load.source != load.load) kept(load.source);
    if (!load.isIterationBefore) continue;
    const RegId first = makeLike(load.load);
    fromIterationBefore_[load.load] = first;
    std::vector<Operand> operands = operandsAt(load.load);
    operands[0].payload = first.value;
    f_.insert(place_, f_[accesses_.all()[load.load].id].opcode(), operands);
  }
  for (const InvariantStores& s : redundant_.stores()) {
    last_[s.stores.back()] = operandsAt(s.stores.back());
    last_[s.stores.back()].back().payload = kept(s.stores.back()).value;
  }
}

void FastLoop::copy(bool keepsOld) {
  const InstrId first = f_[place_].next;
  // The new loop has the old one's label.
  const InstrId at = keepsOld ? place_ : first;
  const LabelId old(f_[place_].payload), fast = keepsOld ? f_.makeLabelLike(f_, old) : old;
  if (keepsOld) f_.insertLabel(at, fast);
  iteration(first, at);
  const auto branch = f_.operandsOf(f_[block_.last]);
  std::vector<Operand> operands(branch.begin(), branch.end());
  for (Operand& o : operands)
    if (o.kind == OperandKind::Label) o.payload = fast.value;
  f_.insert(at, f_[block_.last].opcode(), operands);
  for (const auto& [store, made] : last_) f_.insert(at, f_[accesses_.all()[store].id].opcode(), made);
  if (keepsOld) {
    const LabelId done = f_.makeLabel();
    f_.insertLabel(f_[block_.last].next, done);
    put(SynthOpcode::Bra, {{.kind = OperandKind::Label, .payload = done.value}});
    return;
  }
  for (InstrId id = first;;) {
    const InstrId next = f_[id].next;
    f_.erase(id);
    if (id == block_.last) break;
    id = next;
  }
}

// Copies what stands from `first` on to `at`.
void FastLoop::iteration(InstrId first, InstrId at) {
  std::map<uint32_t, std::size_t> accessOf;  // by instruction
  std::map<std::size_t, const RedundantLoad*> loads;
  std::vector<bool> isLeftOut(accesses_.all().size());
  for (std::size_t a = 0; a < accesses_.all().size(); ++a) accessOf[accesses_.all()[a].id.value] = a;
  for (const RedundantLoad& load : redundant_.loads()) loads[load.load] = &load;
  for (const InvariantStores& s : redundant_.stores())
    for (const std::size_t a : s.stores) isLeftOut[a] = true;

  for (InstrId id = first; id != block_.last; id = f_[id].next) {
    if (f_[id].kind == InstrKind::Pragma) f_.insertPragma(at, NameId(f_[id].payload));
    if (!f_[id].isInstruction()) continue;
    const auto known = accessOf.find(id.value);
    const std::size_t access = known == accessOf.end() ? SIZE_MAX : known->second;
    if (const auto load = loads.find(access); load != loads.end()) {
      insertCopy(module_, f_, redundant_.value(access),
                 load->second->isIterationBefore ? fromIterationBefore_[access] : kept_[load->second->source], at);
    } else if (access == SIZE_MAX || !isLeftOut[access]) {
      const auto operands = f_.operandsOf(f_[id]);
      f_.insert(at, f_[id].opcode(), std::vector<Operand>(operands.begin(), operands.end()));
    }
    if (const auto copy = kept_.find(access); copy != kept_.end())
      insertCopy(module_, f_, copy->second, redundant_.value(access), at);
  }
  for (const RedundantLoad& load : redundant_.loads())
    if (load.isIterationBefore && load.source != load.load)
      insertCopy(module_, f_, fromIterationBefore_[load.load], kept_[load.source], at);
}

}  // namespace ptxopt
