// One walk in the order of the text. A write that is not read when the next one comes, or at the end of the text, is
// sorted at the end: only then is it known which registers are global.
#include "analysis/dataflow/register_numbers.h"

#include <numeric>

namespace ptxopt {

RegisterNumbers::RegisterNumbers(const Function& f, const Cfg& cfg, const RegisterFiles& files)
    : hasUnread_(cfg.size()) {
  constexpr uint32_t kNone = UINT32_MAX;
  struct State {
    uint32_t writtenIn = kNone;  // the last block so far that wrote it in full
    uint32_t unreadIn = kNone;   // the block of the last write, if that block has not read it since
  };
  std::vector<State> states(f.registers.size());
  std::vector<Unread> unread;
  numbers_.assign(f.registers.size(), kNone);
  const auto makeGlobal = [&](RegId reg) {
    if (numbers_[reg.value] != kNone) return;
    auto& registers = slices_[static_cast<std::size_t>(files.of(reg))].registers;
    numbers_[reg.value] = static_cast<uint32_t>(registers.size());
    registers.push_back(reg);
  };
  definitions_.all.reserve(f.registers.size());
  for (Rows* rows : {&exposedReads_, &definitions_}) rows->start.reserve(cfg.size() + 1);
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    for (Rows* rows : {&exposedReads_, &definitions_})
      rows->start.push_back(static_cast<uint32_t>(rows->all.size()));
    for (const InstrId id : cfg.instructions(BlockId(b))) {
      const auto operands = f.operandsOf(f[id]);
      for (const Operand& o : operands) {
        if (!o.isRegister() || !o.reads()) continue;
        State& s = states[o.payload];
        if (s.writtenIn != b) {
          exposedReads_.all.push_back(o.reg());
          makeGlobal(o.reg());
          if (s.unreadIn != b) continue;  // that of another block
        }
        s.unreadIn = kNone;
      }
      for (const Operand& o : operands) {
        if (!o.isRegister() || !o.writes()) continue;
        State& s = states[o.payload];
        if (s.unreadIn == b)
          hasUnread_[b] = 1;
        else if (s.unreadIn != kNone)
          unread.push_back({o.reg(), BlockId(s.unreadIn)});
        s.unreadIn = b;
        if (o.role != Role::Def) continue;
        s.writtenIn = b;
        definitions_.all.push_back(o.reg());
      }
    }
  }
  for (Rows* rows : {&exposedReads_, &definitions_}) rows->start.push_back(static_cast<uint32_t>(rows->all.size()));
  for (const RegId reg : f.returnRegisters) makeGlobal(reg);

  for (Slice& slice : slices_) {
    slice.first = firstLocal_;
    for (const RegId reg : slice.registers) numbers_[reg.value] += slice.first;
    firstLocal_ += static_cast<uint32_t>((slice.registers.size() + 63) / 64 * 64);
  }
  uint32_t next = firstLocal_;
  for (uint32_t& number : numbers_)
    if (number == kNone) number = next++;
  size_ = next;

  for (std::size_t r = 0; r < states.size(); ++r)
    if (states[r].unreadIn != kNone) unread.push_back({RegId(r), BlockId(states[r].unreadIn)});
  sortUnread(unread, cfg.size());
}

void RegisterNumbers::sortUnread(std::span<const Unread> unread, std::size_t blocks) {
  std::vector<uint32_t>& start = unreadGlobals_.start;
  start.assign(blocks + 1, 0);
  for (const Unread& u : unread)
    if (isGlobal(u.reg))
      ++start[u.block.value];
    else
      hasUnread_[u.block.value] = 1;
  std::partial_sum(start.begin(), start.end(), start.begin());
  unreadGlobals_.all.resize(start.back());
  // From the ends of rows to their starts.
  for (const Unread& u : unread)
    if (isGlobal(u.reg)) unreadGlobals_.all[--start[u.block.value]] = u.reg;
}

}  // namespace ptxopt
