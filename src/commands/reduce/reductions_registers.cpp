// Registers and declarations: what nothing uses goes, what is left gets fewer and smaller numbers.
//
// Which declarator a register belongs to is found again from the scopes around its first use. Renumbering could run
// into a name that an inner scope hides: a function that declares a name twice keeps its numbers.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "reduce/reductions.h"

namespace ptxopt::reduce {
namespace {

// The number of `name` within the range `%r<N>` called `prefix`.
std::optional<uint32_t> numberIn(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

// What is used of each declarator of a function's body.
class Uses {
 public:
  struct Use {
    bool isUsed = false;
    uint32_t count = 0;            // of a range: one more than the highest number used
    std::vector<RegId> registers;  // in the order of appearance
  };

  Uses(const Module& m, const Function& f)
      : module_(m),
        f_(f),
        uses_(f.declarators.size()),
        seen_(f.registers.size()),
        seenVariables_(f.variables.size()) {
    scopes_.emplace_back();
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      if (i.kind == InstrKind::ScopeOpen) scopes_.emplace_back();
      if (i.kind == InstrKind::ScopeClose) scopes_.pop_back();
      if (i.kind == InstrKind::Declaration) {
        const Declaration& d = f.declarations[i.payload];
        for (uint32_t k = 0; k < d.declaratorCount; ++k) scopes_.back().push_back(d.firstDeclarator + k);
      }
      for (const Operand& o : f.operandsOf(i)) {
        if (o.isRegister() && !seen_[o.payload]) {
          seen_[o.payload] = true;
          if (f.registers[o.payload].name.valid()) use(m.text(f.registers[o.payload].name), o.reg());
        } else if (o.kind == OperandKind::Variable && !seenVariables_[o.payload]) {
          seenVariables_[o.payload] = true;
          use(m.text(f.variables[o.payload].name), RegId());
        }
      }
    }
  }

  const Use& of(uint32_t declarator) const { return uses_[declarator]; }
  bool isUsed(RegId reg) const { return seen_[reg.value]; }

 private:
  void use(std::string_view name, RegId reg) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      for (const uint32_t k : *scope) {
        const Declarator& d = f_.declarators[k];
        const std::string_view prefix = module_.text(d.name);
        uint32_t count = 0;
        if (d.isRange) {
          const auto number = numberIn(name, prefix);
          if (!number || *number >= d.count) continue;
          count = *number + 1;
        } else if (name != prefix) {
          continue;
        }
        Use& u = uses_[k];
        u.isUsed = true;
        u.count = std::max(u.count, count);
        if (reg.valid()) u.registers.push_back(reg);
        return;
      }
    }
  }

  const Module& module_;
  const Function& f_;
  std::vector<Use> uses_;
  std::vector<bool> seen_, seenVariables_;
  std::vector<std::vector<uint32_t>> scopes_;  // declarators, from the function's body inwards
};

}  // namespace

void dropUnusedDeclarations(Edit& edit, Choices& choices) {
  const Module& m = edit.module;
  for (Function& f : edit.module.functions) {
    if (!f.hasBody) continue;
    const Uses uses(m, f);
    for (const InstrId id : f) {
      if (f[id].kind != InstrKind::Declaration) continue;
      const Declaration old = f.declarations[f[id].payload];
      std::vector<Declarator> kept;
      bool any = false;
      for (uint32_t k = 0; k < old.declaratorCount; ++k) {
        Declarator d = f.declarators[old.firstDeclarator + k];
        const Uses::Use& use = uses.of(old.firstDeclarator + k);
        if ((!use.isUsed || use.count < d.count) && choices.take()) {
          any = true;
          if (!use.isUsed) continue;
          d.count = use.count;
        }
        kept.push_back(d);
      }
      if (!any) continue;
      if (kept.empty()) {
        f.erase(id);
        continue;
      }
      Declaration& now = f.declarations[f[id].payload];
      now.firstDeclarator = static_cast<uint32_t>(f.declarators.size());
      now.declaratorCount = static_cast<uint32_t>(kept.size());
      f.declarators.insert(f.declarators.end(), kept.begin(), kept.end());
      f.touch(id);
    }
  }
}

// A register to the first one of its type that the function uses.
void mergeRegisters(Edit& edit, Choices& choices) {
  for (Function& f : edit.module.functions) {
    if (!f.hasBody) continue;
    const Uses uses(edit.module, f);
    std::map<std::pair<ScalarType, uint8_t>, uint32_t> first;
    std::vector<uint32_t> instead(f.registers.size());
    bool any = false;
    // Id 0 is the carry flag.
    for (uint32_t r = 1; r < f.registers.size(); ++r) {
      instead[r] = r;
      if (!uses.isUsed(RegId(r))) continue;
      const auto [at, isFirst] = first.try_emplace({f.registers[r].type, f.registers[r].lanes}, r);
      if (isFirst || f.registers[r].isParameter || !choices.take()) continue;
      instead[r] = at->second;
      any = true;
    }
    if (!any) continue;
    for (const InstrId id : f)
      for (Operand& o : f.operandsOf(f[id]))
        if (o.isRegister() && o.reg() != Function::kCarry) o.payload = instead[o.payload];
  }
}

// The registers of a range with gaps become 0, 1, 2, ... in the order of their appearance.
void renumberRegisters(Edit& edit, Choices& choices) {
  Module& m = edit.module;
  for (Function& f : m.functions) {
    if (!f.hasBody) continue;
    const Uses uses(m, f);
    std::vector<uint32_t> declarators;
    std::set<std::string_view> names;
    bool isUnique = true;
    for (const InstrId id : f) {
      if (f[id].kind != InstrKind::Declaration) continue;
      const Declaration& declaration = f.declarations[f[id].payload];
      for (uint32_t k = 0; k < declaration.declaratorCount; ++k) {
        declarators.push_back(declaration.firstDeclarator + k);
        isUnique = names.insert(m.text(f.declarators[declarators.back()].name)).second && isUnique;
      }
    }
    if (!isUnique) continue;
    for (const uint32_t k : declarators) {
      Declarator& d = f.declarators[k];
      const Uses::Use& use = uses.of(k);
      // Ranges too large are for dropUnusedDeclarations.
      if (!d.isRange || use.registers.size() >= use.count || !choices.take()) continue;
      const std::string prefix(m.text(d.name));
      for (std::size_t n = 0; n < use.registers.size(); ++n)
        f.registers[use.registers[n].value].name = m.names.internCopy(prefix + std::to_string(n));
      d.count = static_cast<uint32_t>(use.registers.size());
    }
  }
}

}  // namespace ptxopt::reduce
