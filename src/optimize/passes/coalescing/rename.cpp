// The last step of coalescing: a register for each web, and the text that follows from it.
//
// A web takes the name of one of its registers, so that little of the text changes: the fixed one, otherwise the
// one mentioned most that no other web has taken, of several the one with the shortest name. A name must mean the
// register at every place of the web: one that some nested scope declares, or that is declared after the first
// instruction, is only good for a web that never was anything else, and that nothing else reads now. Where no name
// is left a register is made.
#include <algorithm>
#include <array>
#include <numeric>

#include "ir/pragmas.h"
#include "passes/coalescing/coalescer.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {

void Coalescer::findNestedNames() {
  std::vector<bool>& nested = nestedName_.emplace();
  if (!facts_.hasScopes() && declaresAllFirst(f_)) return;
  std::size_t depth = 0;
  bool begun = false;  // an instruction or a label came: what is declared now is not known before that
  for (const InstrId id : f_) {
    const Instruction& i = f_[id];
    begun |= i.isInstruction() || i.kind == InstrKind::Label;
    if (i.kind == InstrKind::ScopeOpen) ++depth;
    if (depth != 0 || (begun && i.kind == InstrKind::Declaration)) nested.resize(context_.module.names.size());
    if (i.kind == InstrKind::ScopeClose) --depth;
    if (i.kind == InstrKind::Label && depth != 0 && f_.labels[i.payload].name.valid())
      nested[f_.labels[i.payload].name.value] = true;
    if (i.kind != InstrKind::Declaration || (depth == 0 && !begun)) continue;
    const Declaration& d = f_.declarations[i.payload];
    for (uint32_t k = d.firstDeclarator; k < d.firstDeclarator + d.declaratorCount; ++k)
      nested[f_.declarators[k].name.value] = true;
  }
}

bool Coalescer::isVisibleEverywhere(RegId r) {
  if (!nestedName_) findNestedNames();
  const std::vector<bool>& nested = *nestedName_;
  const NameId id = f_.registers[r.value].name;
  if (!id.valid() || nested.empty()) return true;
  if (nested[id.value]) return false;
  // `%r<10>` declares %r9, and `%r1<10>` declares %r19.
  std::string_view prefix = context_.module.text(id);
  while (!prefix.empty() && prefix.back() >= '0' && prefix.back() <= '9') {
    prefix.remove_suffix(1);
    const NameId range = context_.module.names.find(prefix);
    if (range.valid() && nested[range.value]) return false;
  }
  return true;
}

void Coalescer::nameWebs() {
  std::vector<uint32_t> mentions(f_.registers.size());
  for (const Operand& o : f_.operands)
    if (o.isRegister()) ++mentions[o.payload];

  // The registers of each web, those mentioned most first.
  const auto nameLength = [&](RegId r) {
    const NameId name = f_.registers[r.value].name;
    return name.valid() ? context_.module.text(name).size() : SIZE_MAX;
  };
  std::vector<uint32_t> start(values_->size() + 1);  // by web: of its row in `members`
  for (Number n = 0; n < values_->size(); ++n) ++start[find(n) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<RegId> members(start.back());
  std::vector<uint32_t> end(start.begin(), start.end() - 1);
  for (Number n = 0; n < values_->size(); ++n) {
    const Number web = find(n);
    const RegId reg = values_->registerOf(n);
    // The values of a register come one after the other.
    if (end[web] == start[web] || members[end[web] - 1] != reg) members[end[web]++] = reg;
  }

  nameOf_.assign(values_->size(), RegId());
  std::vector<bool> taken(f_.registers.size());
  const auto take = [&](Number web, RegId r) {
    nameOf_[web] = r;
    taken[r.value] = true;
  };
  const auto forEachWeb = [&](auto visit) {
    for (Number web = 0; web < values_->size(); ++web)
      if (end[web] != start[web]) visit(web, std::span(members).subspan(start[web], end[web] - start[web]));
  };
  // The fixed names, then webs that are still one register, then the others.
  forEachWeb([&](Number web, auto) {
    if (webs_[web].fixed.valid()) take(web, webs_[web].fixed);
  });
  forEachWeb([&](Number web, auto regs) {
    if (nameOf_[web].valid() || regs.size() != 1 || taken[regs[0].value]) return;
    if (!webs_[web].isPlace || isVisibleEverywhere(regs[0])) take(web, regs[0]);
  });
  forEachWeb([&](Number web, std::span<RegId> regs) {
    if (nameOf_[web].valid()) return;
    std::ranges::sort(regs, {},
                      [&](RegId r) { return std::tuple(UINT32_MAX - mentions[r.value], nameLength(r), r); });
    for (const RegId r : regs)
      if (!taken[r.value] && f_.registers[r.value].type == webs_[web].type && isVisibleEverywhere(r))
        return take(web, r);
    nameOf_[web] = f_.makeRegister(webs_[web].type);
  });
}

void Coalescer::renameOperands(Applied& applied) {
  // Registers all of whose values stay with them are not looked at.
  std::vector<uint8_t> changes(f_.registers.size());
  for (Number n = 0; n < values_->size(); ++n)
    if (moved_[n] != CopyValues::kNone || nameOf_[find(n)] != values_->registerOf(n))
      changes[values_->registerOf(n).value] = 1;
  for (uint32_t b = 0; b < cfg_.size(); ++b) {
    if (!cfg_[BlockId(b)].reachable) continue;
    for (const InstrId id : slots_.instructions(BlockId(b))) {
      const Instruction& i = f_[id];
      for (Operand& o : f_.operandsOf(i)) {
        if (!o.isRegister() || o.payload >= changes.size() || changes[o.payload] == 0) continue;
        const LiveRange& range = intervals()[o.reg()];
        const ValueId v = o.reads() ? range.valueIn(slots_[id]) : range.valueOut(slots_[id]);
        if (!v.valid()) continue;
        Number n = values_->number(o.reg(), v);
        if (o.role == Role::Use && moved_[n] != CopyValues::kNone) n = moved_[n];
        const RegId now = nameOf_[find(n)];
        if (now == o.reg()) continue;
        o.payload = now.value;
        f_.touch(id);
        ++applied.renamed;
      }
    }
  }
}

Coalescer::Applied Coalescer::apply() {
  Applied applied;
  nameWebs();
  // The verdict on each copy comes first: renaming changes what its operands say.
  std::vector<InstrId> superfluous = gone_;
  std::vector<Sink> sinks;
  for (const Copy& c : copies_)
    if (!c.isLane() && isGone(c)) superfluous.push_back(c.instruction);
  settleLanes(superfluous, sinks);
  renameOperands(applied);
  for (const Sink& s : sinks) {
    f_.operands[s.operand] = {OperandKind::Sink, Role::None, f_.operands[s.operand].join, 0, 0};
    f_.touch(s.instruction);
  }
  applied.renamed += sinks.size();
  for (const InstrId id : superfluous) {
    if (f_[id].is(Instruction::Erased)) continue;
    eraseWithPragma(context_.module, f_, id);
    ++applied.erased;
  }
  if (applied.any()) eraseUnusedDeclarations();
  return applied;
}

// Declarations of registers that no instruction mentions any more, by name: one of the same name in another scope
// keeps them.
void Coalescer::eraseUnusedDeclarations() {
  const Module& module = context_.module;
  const auto declares = [&](InstrId id) {
    return f_[id].kind == InstrKind::Declaration &&
           module.declarationForms[f_.declarations[f_[id].payload].form].space == DeclaredSpace::Reg;
  };
  // How long the declared names are: parts of others are looked up only where one of them may be meant.
  constexpr std::size_t kLongest = 63;
  uint64_t lengths = 0;
  std::vector<bool> isUsed(module.names.size(), true);
  std::vector<uint8_t> isMentioned(f_.registers.size());
  std::size_t unused = 0;  // names: where all are found there is nothing to erase
  for (const InstrId id : f_) {
    if (!declares(id)) continue;
    const Declaration& d = f_.declarations[f_[id].payload];
    for (uint32_t k = d.firstDeclarator; k < d.firstDeclarator + d.declaratorCount; ++k) {
      const NameId name = f_.declarators[k].name;
      lengths |= uint64_t{1} << std::min(module.text(name).size(), kLongest);
      unused += isUsed[name.value];
      isUsed[name.value] = false;
    }
  }
  const auto use = [&](NameId name) {
    unused -= !isUsed[name.value];
    isUsed[name.value] = true;
  };
  std::array<std::string_view, 64> latest;  // of prefixes that were looked up; most come again and again
  for (const InstrId id : f_)
    for (const Operand& o : f_.operandsOf(f_[id])) {
      if (!o.isRegister() || isMentioned[o.payload] != 0) continue;
      if (unused == 0) return;
      isMentioned[o.payload] = 1;
      const NameId name = f_.registers[o.payload].name;
      if (!name.valid()) continue;
      use(name);
      std::string_view prefix = module.text(name);
      while (!prefix.empty() && prefix.back() >= '0' && prefix.back() <= '9') {
        prefix.remove_suffix(1);
        if ((lengths >> std::min(prefix.size(), kLongest) & 1) == 0) continue;
        std::string_view& known =
            latest[(prefix.size() + 8 * static_cast<unsigned char>(prefix.back())) % latest.size()];
        if (known == prefix) continue;
        known = prefix;
        if (const NameId range = module.names.find(prefix); range.valid()) use(range);
      }
    }
  for (const InstrId id : f_) {
    if (!declares(id)) continue;
    const Declaration& d = f_.declarations[f_[id].payload];
    bool anyUsed = false;
    for (uint32_t k = d.firstDeclarator; k < d.firstDeclarator + d.declaratorCount; ++k)
      anyUsed = anyUsed || isUsed[f_.declarators[k].name.value];
    if (!anyUsed) f_.erase(id);
  }
}

}  // namespace ptxopt
