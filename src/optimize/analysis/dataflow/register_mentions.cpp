// Both lists are in the order of the text and are merged in one pass, without branches on the usual way. Results of a
// function that falls off its end come last.
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
void addAtEnd(RegisterMentions& mentions, RegId r, const SlotIndexes& slots) {
  mentions.add(RegisterMention::codeOf(registerOperand(r, Role::Use)), slots.lastOfFunction().previous());
}

}  // namespace

RegisterMentions registerMentions(const Function& f, const Cfg& cfg, const SlotIndexes& slots,
                                  const std::vector<uint8_t>* isWanted) {
  RegisterMentions mentions(f.operands.size() + f.returnRegisters.size());
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    if (!cfg[BlockId(b)].reachable) continue;
    for (const InstrId id : slots.instructions(BlockId(b)))
      for (const Operand& o : f.operandsOf(f[id]))
        if (o.isRegister() && (isWanted == nullptr || (*isWanted)[o.payload] != 0))
          mentions.add(RegisterMention::codeOf(o), slots[id]);
  }
  forEachResult(f, cfg, [&](RegId r) {
    if (isWanted == nullptr || (*isWanted)[r.value] != 0) addAtEnd(mentions, r, slots);
  });
  mentions.close();
  return mentions;
}

MentionChanges::MentionChanges(const Function& f, const Cfg& cfg, const SlotIndexes& slots,
                               const RegisterMentions& before)
    : mentions(f.operands.size() + f.returnRegisters.size()), isChanged(f.registers.size()) {
  const std::span<const RegisterMention> all = before;
  const RegisterMention* old = all.data();
  const RegisterMention* const end = old + all.size();  // what stands there is at no place
  RegisterMention* out = mentions.next();
  uint8_t* const changed = isChanged.data();
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    if (!cfg[BlockId(b)].reachable) continue;
    for (const InstrId id : slots.instructions(BlockId(b))) {
      const uint32_t at = slots[id].raw();
      RegisterMention* m = out;
      for (const Operand& o : f.operandsOf(f[id]))
        if (o.isRegister()) *out++ = {RegisterMention::codeOf(o), at};
      for (; old->place < at; ++old) changed[old->reg()] = 1;
      const RegisterMention* same = m;
      for (; same != out && old->place == at && old->code == same->code; ++same) ++old;
      if (same == out && old->place != at) continue;
      for (; m != out; ++m) changed[m->reg()] = 1;
    }
  }
  for (; old != end; ++old) changed[old->reg()] = 1;
  mentions.addedUpTo(out);
  forEachResult(f, cfg, [&](RegId r) {
    addAtEnd(mentions, r, slots);
    changed[r.value] = 1;
  });
  mentions.close();
}

RegisterMentions MentionChanges::changed() const {
  RegisterMentions some(mentions.size());
  RegisterMention* out = some.next();
  for (const RegisterMention& m : std::span<const RegisterMention>(mentions)) {
    *out = m;
    out += isChanged[m.reg()];
  }
  some.addedUpTo(out);
  return some;
}

}  // namespace ptxopt
