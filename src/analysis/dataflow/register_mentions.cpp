#include "analysis/dataflow/register_mentions.h"

#include <algorithm>

namespace ptxopt {
namespace {

// Whether control may come to the end of the text at the end of the last block, and not only to a `ret` there. That
// has the results as implicit operands.
bool fallsOffTheEnd(const Function& f, const Block& block) {
  if (!block.returns) return false;
  if (!block.last.valid() || f[block.last].is(Instruction::Guarded)) return true;
  for (const Operand& o : f.operandsOf(f[block.last]))
    if (o.isRegister() && o.is(Operand::Implicit) && o.reg() != Function::kCarry) return false;
  return true;
}

// Calls `mention(register)` for each result that is read where no instruction is, after the last block.
template <typename Mention>
void forEachResult(const Function& f, const Cfg& cfg, Mention mention) {
  const Block& last = cfg[BlockId(cfg.size() - 1)];
  if (!last.reachable || f.returnRegisters.empty() || !fallsOffTheEnd(f, last)) return;
  for (const RegId r : f.returnRegisters) mention(r);
}

// Any slot but Block stands for the end of the text.
RegisterMention atEnd(RegId r, const SlotIndexes& slots) {
  return {r.value, slots.lastOfFunction().previous(), Role::Use};
}

}  // namespace

std::vector<RegisterMention> registerMentions(const Function& f, const Cfg& cfg, const SlotIndexes& slots,
                                              const std::vector<bool>* isWanted) {
  std::vector<RegisterMention> mentions;
  mentions.reserve(isWanted == nullptr ? f.operands.size() : 0);
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    if (!cfg[BlockId(b)].reachable) continue;
    for (const InstrId id : slots.instructions(BlockId(b)))
      for (const Operand& o : f.operandsOf(f[id]))
        if (o.isRegister() && (isWanted == nullptr || (*isWanted)[o.payload]))
          mentions.push_back({o.payload, slots[id], o.role});
  }
  forEachResult(f, cfg, [&](RegId r) {
    if (isWanted == nullptr || (*isWanted)[r.value]) mentions.push_back(atEnd(r, slots));
  });
  return mentions;
}

MentionChanges::MentionChanges(const Function& f, const Cfg& cfg, const SlotIndexes& slots,
                               std::span<const RegisterMention> before, const SlotIndexes& slotsBefore)
    : isChanged(f.registers.size()) {
  // In memory that does not grow: there is nothing to look up again in the loops. To copy is less than to make anew.
  const std::size_t most = f.operands.size() + f.returnRegisters.size();
  mentions.reserve(std::max(most, before.size()));
  mentions.assign(before.begin(), before.end());
  if (mentions.size() < most) mentions.resize(most);
  RegisterMention* out = mentions.data();
  const RegisterMention* old = before.data();
  const RegisterMention* const end = old + before.size();
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    const BlockId block(b);
    isRenumbered |= slots.start(block) != slotsBefore.start(block);
    if (!cfg[block].reachable) continue;
    SlotIndex next = slotsBefore.start(block);
    const SlotIndex endBefore = slotsBefore.end(block);
    for (const InstrId id : slots.instructions(block)) {
      const SlotIndex at = slots[id], was = slotsBefore[id];
      isRenumbered |= at != was;
      bool isSame = was.valid() && was > next && was < endBefore;
      if (isSame) {
        for (; old != end && old->at < was; ++old) isChanged[old->reg] = true;
        next = was;
      }
      RegisterMention* const first = out;
      for (const Operand& o : f.operandsOf(f[id])) {
        if (!o.isRegister()) continue;
        out->reg = o.payload;
        out->at = at;
        out->role = o.role;
        ++out;
        if (!isSame) continue;
        isSame = old != end && old->at == was && old->reg == o.payload && old->role == o.role;
        old += isSame;
      }
      if (isSame && (old == end || old->at != was)) continue;
      for (const RegisterMention* m = first; m != out; ++m) isChanged[m->reg] = true;
    }
  }
  for (; old != end; ++old) isChanged[old->reg] = true;
  isRenumbered |= slots.lastOfFunction() != slotsBefore.lastOfFunction();
  forEachResult(f, cfg, [&](RegId r) {
    *out++ = atEnd(r, slots);
    isChanged[r.value] = true;
  });
  mentions.resize(static_cast<std::size_t>(out - mentions.data()));
}

}  // namespace ptxopt
