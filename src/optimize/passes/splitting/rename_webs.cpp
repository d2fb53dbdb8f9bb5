// rename-webs: gives every def-use web a register of its own.
//
// What:       a web is a largest set of definitions and uses that share values: two definitions are in one when
//             some use may read either. Unrelated values that share a name part. The first web of a register keeps
//             the name.
// Algorithm:  values as nodes of a union-find: one for each full definition, and one for each register at the start
//             of each block where it is live. At a block's end the value of a register is united with those at the
//             starts of its successors. A mod (guarded definition, tied accumulator, lane write) keeps the node of
//             what it reads. No dominators are needed: a phi is just a node with several values united into it.
// Registers:  a web has the type and the lanes of its register, so nothing changes for an instruction that goes by types.
// Keeps:      the carry flag, registers of the parameter and return lists.
// Machine code of ptxas: identical, which makes this a test of the operand roles of every opcode; but for ties.
//             Where `shfl lo|p, lo, ...` reads and writes one register, ptxas takes that as a hint to give both
//             values one machine register, and without the hint it may choose otherwise. Knob rename-webs-keep-tied
//             leaves such values together.
// Cost:       instructions + the sum of live-in sets, almost linear.
// Declines:   too-large: liveness or the values would take more memory than knobs liveness-memory-mb and
//             rename-webs-memory-mb allow.
#include <algorithm>
#include <vector>

#include "passes/manager/pass.h"
#include "support/union_find.h"

namespace ptxopt {
namespace {

class WebRenamer {
 public:
  WebRenamer(Function& f, PassContext& context) : f_(f), context_(context), cfg_(context.analyses.cfg()) {}

  bool run() {
    findCandidates();
    if (candidates_ == 0) return false;
    if (!context_.hasUsableGraph()) return false;
    const Liveness& liveness = context_.analyses.liveness(Liveness::Strength::Plain);
    if (!liveness.solved()) {
      context_.decline("too-large", "the bits of liveness need more memory than liveness-memory-mb allows");
      return false;
    }
    if (!makeBlockValues(liveness)) {
      context_.decline("too-large", "the values need more memory than rename-webs-memory-mb allows");
      return false;
    }
    for (uint32_t b = 0; b < cfg_.size(); ++b) numberBlock(BlockId(b));
    return rename();
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kBytesAValue = 24;  // in live_, values_ and the table of registers, as vectors grow
  struct Occurrence {
    uint32_t operand;
    uint32_t value;
    InstrId instruction;
  };

  // Registers with at least two full definitions. The others have one web, and at most another one that has only the
  // undefined value of the entry, which needs no register.
  void findCandidates() {
    std::vector<uint8_t> writes(f_.registers.size());
    for (const InstrId id : f_)
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.isRegister() && o.role == Role::Def && writes[o.payload] < 2) ++writes[o.payload];
    isCandidate_.resize(f_.registers.size());
    for (std::size_t r = 1; r < f_.registers.size(); ++r) {
      isCandidate_[r] = writes[r] >= 2 && !f_.registers[r].isParameter;
      candidates_ += isCandidate_[r];
    }
  }

  bool makeBlockValues(const Liveness& liveness) {
    const auto most = static_cast<std::size_t>(context_.knobs[Knob::RenameWebsMemoryMb]) << 20;
    liveStart_.push_back(0);
    for (uint32_t b = 0; b < cfg_.size(); ++b) {
      liveness.forEachLiveIn(BlockId(b), [&](RegId reg) {
        if (!isCandidate_[reg.value]) return;
        live_.push_back(reg);
        values_.add();
      });
      if (live_.size() * kBytesAValue > most) return false;
      liveStart_.push_back(static_cast<uint32_t>(live_.size()));
    }
    current_.assign(f_.registers.size(), kNone);
    return true;
  }

  // Gives the operands of a block their values and joins those at its end with the successors'.
  void numberBlock(BlockId b) {
    for (uint32_t v = liveStart_[b.value]; v < liveStart_[b.value + 1]; ++v) current_[live_[v].value] = v;
    const Block& block = cfg_[b];
    for (InstrId id = block.first; id.valid(); id = id == block.last ? InstrId() : f_[id].next) number(id);
    for (const BlockId s : cfg_.successors(b))
      for (uint32_t v = liveStart_[s.value]; v < liveStart_[s.value + 1]; ++v)
        if (const uint32_t value = current_[live_[v].value]; value != kNone) values_.unite(v, value);
    for (const RegId reg : set_) current_[reg.value] = kNone;
    for (uint32_t v = liveStart_[b.value]; v < liveStart_[b.value + 1]; ++v) current_[live_[v].value] = kNone;
    set_.clear();
  }

  void number(InstrId id) {
    const Instruction& i = f_[id];
    const auto operands = f_.operandsOf(i);
    const auto visit = [&](bool definitions) {
      for (std::size_t k = 0; k < operands.size(); ++k) {
        const Operand& o = operands[k];
        if (!o.isRegister() || !isCandidate_[o.payload] || (o.role == Role::Def) != definitions) continue;
        uint32_t& value = current_[o.payload];
        const uint32_t before = value;
        // In `{r1, r1}` both write the same value.
        if ((definitions && lastWrite_[o.payload] != id) || value == kNone) value = values_.add();
        if (definitions) lastWrite_[o.payload] = id;
        if (definitions && keepTied_ && before != kNone && readsRegister(operands, o.reg()))
          values_.unite(before, value);
        set_.push_back(o.reg());
        occurrences_.push_back({static_cast<uint32_t>(i.firstOperand + k), value, id});
      }
    };
    lastWrite_.resize(f_.registers.size());
    visit(false);
    visit(true);
  }

  static bool readsRegister(std::span<const Operand> operands, RegId reg) {
    return std::any_of(operands.begin(), operands.end(),
                       [&](const Operand& o) { return o.isRegister() && o.reads() && o.reg() == reg; });
  }

  bool rename() {
    std::vector<RegId> registerOf(values_.size());
    std::vector<uint8_t> hasWeb(f_.registers.size());
    std::size_t webs = 0;
    for (const Occurrence& o : occurrences_) {
      const RegId old = f_.operands[o.operand].reg();
      RegId& reg = registerOf[values_.find(o.value)];
      if (!reg.valid()) {
        if (!hasWeb[old.value]) {
          hasWeb[old.value] = 1;
          reg = old;
        } else {
          reg = f_.makeRegister(f_.registers[old.value].type, f_.registers[old.value].lanes);
          ++webs;
        }
      }
      if (reg == old) continue;
      f_.operands[o.operand].payload = reg.value;
      f_.touch(o.instruction);
    }
    context_.count("webs-renamed", webs);
    return webs != 0;
  }

  Function& f_;
  PassContext& context_;
  const Cfg& cfg_;
  const bool keepTied_ = context_.knobs[Knob::RenameWebsKeepTied] != 0;
  std::vector<uint8_t> isCandidate_;  // by RegId
  std::size_t candidates_ = 0;
  UnionFind values_;
  // The values at the starts of blocks: those of block b are liveStart_[b] up to liveStart_[b+1].
  std::vector<RegId> live_;
  std::vector<uint32_t> liveStart_;
  std::vector<uint32_t> current_;   // by RegId: its value here
  std::vector<RegId> set_;          // what numberBlock set in current_
  std::vector<InstrId> lastWrite_;  // by RegId
  std::vector<Occurrence> occurrences_;
};

}  // namespace

bool renameWebs(Function& f, PassContext& context) { return WebRenamer(f, context).run(); }

}  // namespace ptxopt
