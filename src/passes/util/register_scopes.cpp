#include "passes/util/register_scopes.h"

#include <algorithm>

namespace ptxopt {

Occurrences::Occurrences(const Function& f) : start_(f.registers.size() + 1), count_(f.registers.size()) {
  struct Mention {
    uint32_t reg;
    Occurrence what;
  };
  std::vector<Mention> mentions;
  mentions.reserve(f.operands.size());
  std::vector<uint32_t> latest(f.registers.size(), UINT32_MAX);
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) continue;
    for (const Operand& o : f.operandsOf(f[id])) {
      if (!o.isRegister()) continue;
      uint32_t& at = latest[o.payload];
      if (at == UINT32_MAX || mentions[at].what.instruction != id) {
        at = static_cast<uint32_t>(mentions.size());
        mentions.push_back({o.payload, {}});
        mentions[at].what.instruction = id;
        ++start_[o.payload + 1];
      }
      mentions[at].what.reads |= o.reads();
      mentions[at].what.writes |= o.writes();
    }
  }
  for (std::size_t r = 0; r < count_.size(); ++r) start_[r + 1] += start_[r];
  all_.resize(mentions.size());
  for (const Mention& m : mentions) all_[start_[m.reg] + count_[m.reg]++] = m.what;
}

Occurrences::Occurrences(const Function& f, const RegisterScopes& scopes) {
  if (scopes.areMany()) *this = Occurrences(f);
}

RegisterScopes::RegisterScopes(const Module& module, const Function& f) {
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

}  // namespace ptxopt
