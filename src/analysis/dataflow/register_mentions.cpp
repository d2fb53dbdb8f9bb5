#include "analysis/dataflow/register_mentions.h"

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
  mentions.reserve(f.operands.size());
  auto old = before.begin();
  // The next place of before that may follow the last that still is.
  const auto skipTo = [&](SlotIndex place) {
    for (; old != before.end() && old->at < place; ++old) isChanged[old->reg] = true;
  };
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    const BlockId block(b);
    isRenumbered |= slots.start(block) != slotsBefore.start(block);
    if (!cfg[block].reachable) continue;
    SlotIndex next = slotsBefore.start(block);
    for (const InstrId id : slots.instructions(block)) {
      const SlotIndex at = slots[id], was = slotsBefore[id];
      isRenumbered |= at != was;
      const bool stands = was.valid() && was > next && was < slotsBefore.end(block);
      if (stands) {
        skipTo(was);
        next = was;
      }
      bool isSame = stands;
      const std::size_t first = mentions.size();
      for (const Operand& o : f.operandsOf(f[id])) {
        if (!o.isRegister()) continue;
        mentions.push_back({o.payload, at, o.role});
        if (isSame && old != before.end() && old->at == was && old->reg == o.payload && old->role == o.role)
          ++old;
        else
          isSame = false;
      }
      if (stands && isSame && (old == before.end() || old->at != was)) continue;
      for (std::size_t k = first; k < mentions.size(); ++k) isChanged[mentions[k].reg] = true;
    }
  }
  for (; old != before.end(); ++old) isChanged[old->reg] = true;
  isRenumbered |= slots.lastOfFunction() != slotsBefore.lastOfFunction();
  forEachResult(f, cfg, [&](RegId r) {
    mentions.push_back(atEnd(r, slots));
    isChanged[r.value] = true;
  });
}

}  // namespace ptxopt
