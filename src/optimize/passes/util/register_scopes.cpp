// Occurrences are rows of one array, one for each register. Scopes are numbered by the text: each .reg that is not at
// the function's top begins one, and a closing brace returns to the outer one.
#include "passes/util/register_scopes.h"

#include <algorithm>

namespace ptxopt {

// Rows as long as the operands that name a register, those of instructions that are gone among them.
Occurrences::Occurrences(const Function& f) : start_(f.registers.size() + 1), count_(f.registers.size()) {
  for (const Operand& o : f.operands)
    if (o.isRegister()) ++start_[o.payload + 1];
  for (std::size_t r = 0; r < count_.size(); ++r) start_[r + 1] += start_[r];
  all_.resize(start_.back());
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) continue;
    for (const Operand& o : f.operandsOf(f[id])) {
      if (!o.isRegister()) continue;
      uint32_t& count = count_[o.payload];
      Occurrence* const row = all_.data() + start_[o.payload];
      if (count == 0 || row[count - 1].instruction != id) row[count++].instruction = id;
      row[count - 1].reads |= o.reads();
      row[count - 1].writes |= o.writes();
    }
  }
}

bool declaresAllFirst(const Function& f) {
  uint32_t declarations = 0;
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    if (i.isInstruction() || i.kind == InstrKind::Label || i.kind == InstrKind::ScopeOpen) break;
    if (i.kind == InstrKind::Declaration && i.payload == declarations) ++declarations;
  }
  return declarations == f.declarations.size();
}

RegisterScopes::RegisterScopes(const Module& module, const Function& f) {
  if (declaresAllFirst(f)) return;
  std::vector<uint32_t> scope(f.instructions.size()), outer;
  uint32_t current = 0, latest = 0;
  bool nested = false;
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    scope[id.value] = current;
    if (i.kind == InstrKind::ScopeOpen) outer.push_back(current);
    if (i.kind == InstrKind::ScopeClose) {
      current = outer.back();
      outer.pop_back();
    }
    const bool isDeclaration = i.kind == InstrKind::Declaration &&
                               module.declarationForms[f.declarations[i.payload].form].space == DeclaredSpace::Reg;
    // Declarations at the top of the function begin no scope of their own: nothing is named before them.
    if (isDeclaration && (nested || !outer.empty())) current = ++latest;
    nested |= i.isInstruction();
  }
  if (latest != 0) scope_ = std::move(scope);
}

bool RegisterScopes::reaches(const Occurrences& occurrences, RegId r, InstrId place) const {
  if (scope_.empty()) return true;
  const uint32_t wanted = before(place);
  return std::ranges::any_of(occurrences.of(r),
                             [&](const Occurrence& o) { return scope_[o.instruction.value] == wanted; });
}

bool RegisterReach::operator()(RegId r, InstrId place) {
  if (!scopes_) {
    scopes_.emplace(module_, f_);
    if (scopes_->areMany()) findScopes();
  }
  if (!scopes_->areMany()) return true;
  const uint32_t wanted = scopes_->before(place);
  return scopeOf_[r.value] == wanted || std::ranges::binary_search(further_, std::pair(r.value, wanted));
}

void RegisterReach::findScopes() {
  scopeOf_.assign(f_.registers.size(), UINT32_MAX);
  std::vector<uint32_t> noted(f_.registers.size(), UINT32_MAX);  // the scope whose pair came last
  for (const InstrId id : f_) {
    if (!f_[id].isInstruction()) continue;
    const uint32_t scope = scopes_->before(id);
    for (const Operand& o : f_.operandsOf(f_[id])) {
      if (!o.isRegister() || scopeOf_[o.payload] == scope) continue;
      if (scopeOf_[o.payload] == UINT32_MAX)
        scopeOf_[o.payload] = scope;
      else if (std::exchange(noted[o.payload], scope) != scope)
        further_.emplace_back(o.payload, scope);
    }
  }
  std::ranges::sort(further_);
}

}  // namespace ptxopt
