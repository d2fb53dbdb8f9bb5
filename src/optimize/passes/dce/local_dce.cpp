// local-dce: removes what one look at a block shows to be dead.
//
// What:       instructions without an effect whose results are written again in full, or not read at all, before
//             their block ends, and which no other block reads first; with all in the block that only fed them.
// Algorithm:  one backward walk of each block that writes what nothing reads. At the end of a block with successors
//             every global register (register_numbers.h) counts as live, so no dataflow problem is solved. Where
//             something was dead, it may have held the last read of a register in any block but those that write
//             it: the number of blocks that read each register first is counted, and when it falls to none these
//             blocks are walked again. So a second run finds nothing. Unreachable blocks are walked too.
// Keeps:      whatever isRemovable() does not vouch for, and what is dead only on all paths together: dce
//             does the rest.
// Machine code of ptxas: identical (it removes the same itself).
// Cost:       linear, and a walk of a block for each of its registers that nobody else reads any more.
// Declines:   too-large: the control-flow graph has too many edges.
#include <vector>

#include "passes/util/erase_dead.h"

namespace ptxopt {
namespace {

class LocalDead {
 public:
  LocalDead(const Module& module, Function& f, const Cfg& cfg, const RegisterNumbers& numbers)
      : f_(f), cfg_(cfg), numbers_(numbers), live_(f, numbers_), global_(numbers_.firstLocal()), dead_(module, f) {
    for (const RegisterFile file : kRegisterFiles)
      for (const RegId reg : numbers_[file].registers) global_.set(numbers_[reg]);
  }

  std::size_t run() {
    bool found = false;
    for (uint32_t b = 0; b < cfg_.size(); ++b)
      if (mayHaveDead(BlockId(b))) found |= walk(BlockId(b));
    if (found) followReads();
    return dead_.erase().instructions;
  }

 private:
  // The last dead instruction of a block writes what nothing reads: not the block, and no other one.
  bool mayHaveDead(BlockId block) const {
    return numbers_.hasUnread(block) || (cfg_.successors(block).empty() && !numbers_.unreadGlobals(block).empty());
  }

  bool walk(BlockId block) {
    live_.restart();
    if (!cfg_.successors(block).empty())
      live_.makeAllLive(global_);
    else if (cfg_[block].returns)
      for (const RegId reg : f_.returnRegisters) live_.makeLive(reg);
    return dead_.collect(cfg_[block], live_);
  }

  template <typename Visit>
  void forEachInstruction(BlockId block, Visit visit) const {
    const Block& b = cfg_[block];
    for (InstrId id = b.first; id.valid(); id = id == b.last ? InstrId() : f_[id].next)
      if (!dead_.has(id)) visit(f_[id]);
  }

  // The registers that a block reads before it writes them, but for what is dead. `readAt_` is then `walks_` for
  // them.
  template <typename Visit>
  void forEachFirstRead(BlockId block, Visit visit) {
    ++walks_;
    forEachInstruction(block, [&](const Instruction& i) {
      const auto operands = f_.operandsOf(i);
      for (const Operand& o : operands) {
        if (!o.isRegister() || !o.reads() || writtenAt_[o.payload] == walks_ || readAt_[o.payload] == walks_)
          continue;
        readAt_[o.payload] = walks_;
        visit(o.reg());
      }
      for (const Operand& o : operands)
        if (o.isRegister() && o.role == Role::Def) writtenAt_[o.payload] = walks_;
    });
  }

  // Counts what is left, and walks again where a register has lost its readers.
  void followReads() {
    const std::size_t registers = f_.registers.size();
    readers_.assign(registers, 0);
    readAt_.assign(registers, 0);
    writtenAt_.assign(registers, 0);
    isQueued_.assign(cfg_.size(), false);
    for (const RegId reg : f_.returnRegisters) ++readers_[reg.value];
    for (uint32_t b = 0; b < cfg_.size(); ++b)
      forEachFirstRead(BlockId(b), [&](RegId reg) { ++readers_[reg.value]; });
    findWriters();
    for (std::size_t r = 0; r < registers; ++r)
      if (readers_[r] == 0 && numbers_.isGlobal(RegId(r))) becomeLocal(RegId(r));
    std::vector<RegId> before;
    while (!work_.empty()) {
      const BlockId block = work_.back();
      work_.pop_back();
      isQueued_[block.value] = false;
      before.clear();
      forEachFirstRead(block, [&](RegId reg) { before.push_back(reg); });
      if (!walk(block)) continue;
      forEachFirstRead(block, [](RegId) {});
      for (const RegId reg : before)
        if (readAt_[reg.value] != walks_ && --readers_[reg.value] == 0) becomeLocal(reg);
    }
  }

  // Blocks by the global register that they write, as compressed rows.
  void findWriters() {
    writerStart_.assign(f_.registers.size() + 1, 0);
    const auto forEachWrite = [&](auto visit) {
      for (uint32_t b = 0; b < cfg_.size(); ++b)
        forEachInstruction(BlockId(b), [&](const Instruction& i) {
          for (const Operand& o : f_.operandsOf(i))
            if (o.isRegister() && o.writes() && numbers_.isGlobal(o.reg())) visit(o.payload, BlockId(b));
        });
    };
    forEachWrite([&](uint32_t r, BlockId) { ++writerStart_[r + 1]; });
    for (std::size_t r = 0; r < f_.registers.size(); ++r) writerStart_[r + 1] += writerStart_[r];
    writers_.resize(writerStart_.back());
    std::vector<uint32_t> next(writerStart_.begin(), writerStart_.end() - 1);
    forEachWrite([&](uint32_t r, BlockId b) { writers_[next[r]++] = b; });
  }

  void becomeLocal(RegId reg) {
    global_.reset(numbers_[reg]);
    for (uint32_t w = writerStart_[reg.value]; w < writerStart_[reg.value + 1]; ++w) {
      if (isQueued_[writers_[w].value]) continue;
      isQueued_[writers_[w].value] = true;
      work_.push_back(writers_[w]);
    }
  }

  Function& f_;
  const Cfg& cfg_;
  const RegisterNumbers& numbers_;
  LivePoint live_;
  BitVector global_;  // by number: those that some block reads first
  DeadInstructions dead_;
  uint32_t walks_ = 0;
  std::vector<uint32_t> readers_;             // by register: how many blocks read it first
  std::vector<uint32_t> readAt_, writtenAt_;  // by register: the last walk that met one
  std::vector<uint32_t> writerStart_;         // by register, and the end of the last
  std::vector<BlockId> writers_;
  std::vector<BlockId> work_;
  std::vector<bool> isQueued_;  // by block
};

}  // namespace

bool localDce(Function& f, PassContext& context) {
  if (!context.hasUsableGraph()) return false;
  const std::size_t removed =
      LocalDead(context.module, f, context.analyses.cfg(), context.analyses.registerNumbers()).run();
  context.count("dead", removed);
  return removed != 0;
}

}  // namespace ptxopt
