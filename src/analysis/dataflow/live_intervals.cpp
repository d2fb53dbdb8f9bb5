#include "analysis/dataflow/live_intervals.h"

#include <fmt/format.h>

#include <utility>

#include "analysis/dataflow/live_range_calc.h"

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

}  // namespace

LiveIntervals::LiveIntervals(const Function& function, const Cfg& cfg, const SlotIndexes& slots,
                             const DominatorTree* dominators)
    : f_(function),
      cfg_(cfg),
      ownDominators_(dominators != nullptr
                         ? nullptr
                         : std::make_unique<DominatorTree>(cfg, DominatorTree::Direction::Dominators)),
      dominators_(dominators != nullptr ? *dominators : *ownDominators_),
      memory_(std::make_unique<std::pmr::monotonic_buffer_resource>()) {
  ranges_.reserve(function.registers.size());
  for (std::size_t r = 0; r < function.registers.size(); ++r) ranges_.emplace_back(memory_.get());
  compute(slots, nullptr);
}

LiveIntervals::LiveIntervals(const Function& function, const Cfg& cfg, const SlotIndexes& slots,
                             const DominatorTree& dominators, std::span<const RegId> only)
    : f_(function),
      cfg_(cfg),
      dominators_(dominators),
      memory_(std::make_unique<std::pmr::monotonic_buffer_resource>()) {
  ranges_.reserve(function.registers.size());
  for (std::size_t r = 0; r < function.registers.size(); ++r) ranges_.emplace_back(memory_.get());
  recompute(only, slots);
}

namespace {

// What one walk over the instructions finds of each register. Most registers are written once and read in the same block
// only: their ranges follow from that. Of the others all occurrences are listed.
class Walk {
 public:
  struct Seen {
    enum class State : uint8_t { Unwanted, Unseen, Local, Listed };
    SlotIndex def, last;  // of a local one: where it is written, and read for the last time
    BlockId block;        // the first that mentions it
    uint32_t mentions = 0;
    State state = State::Unseen;
  };

  // `only`: no others are looked at, if it is there.
  Walk(const Function& f, const Cfg& cfg, const SlotIndexes& slots, const std::vector<bool>* only)
      : seen_(f.registers.size()) {
    if (only != nullptr)
      for (std::size_t r = 0; r < seen_.size(); ++r)
        if (!(*only)[r]) seen_[r].state = Seen::State::Unwanted;
    mentions_.reserve(only == nullptr ? f.operands.size() : 0);
    for (uint32_t b = 0; b < cfg.size(); ++b) {
      const BlockId block(b);
      if (!cfg[block].reachable) continue;
      for (const InstrId id : slots.instructions(block)) {
        const SlotIndex at = slots[id];
        for (const Operand& o : f.operandsOf(f[id])) {
          if (!o.isRegister()) continue;
          if (Seen& s = seen_[o.payload]; s.state != Seen::State::Unwanted) note(s, o.payload, block, at, o.role);
        }
      }
      if (b + 1 != cfg.size() || !fallsOffTheEnd(f, cfg[block])) continue;
      // No instruction reads the results there. Any slot but Block stands for that.
      for (const RegId r : f.returnRegisters) {
        Seen& s = seen_[r.value];
        if (s.state == Seen::State::Unwanted) continue;
        note(s, r.value, block, slots.end(block).previous(), Role::Use);
        s.state = Seen::State::Listed;
      }
    }
    list();
  }

  const Seen& operator[](RegId r) const { return seen_[r.value]; }
  // Of a listed one, in the order of the text.
  std::span<const Occurrence> occurrences(RegId r) const {
    return {all_.data() + (end_[r.value] - seen_[r.value].mentions), all_.data() + end_[r.value]};
  }

 private:
  struct Mention {
    uint32_t reg;
    SlotIndex at;
    Role role;
  };

  void note(Seen& s, uint32_t reg, BlockId block, SlotIndex at, Role role) {
    if (s.state == Seen::State::Unseen) {
      s.block = block;
      s.def = s.last = at;
      s.state = role == Role::Def ? Seen::State::Local : Seen::State::Listed;
    } else if (s.state == Seen::State::Local) {
      if (role != Role::Use || at == s.def || block != s.block) s.state = Seen::State::Listed;
      s.last = at;
    }
    ++s.mentions;
    mentions_.push_back({reg, at, role});
  }

  // As compressed rows; an instruction that names a register several times is one occurrence.
  void list() {
    end_.resize(seen_.size());
    uint32_t start = 0;
    for (std::size_t r = 0; r < seen_.size(); ++r) {
      end_[r] = start;
      if (seen_[r].state == Seen::State::Listed) start += std::exchange(seen_[r].mentions, 0);
    }
    all_.resize(start);
    for (const Mention& m : mentions_) {
      Seen& s = seen_[m.reg];
      if (s.state != Seen::State::Listed) continue;
      uint32_t& end = end_[m.reg];
      if (s.mentions == 0 || all_[end - 1].at != m.at) {
        all_[end++] = {m.at};
        ++s.mentions;
      }
      Occurrence& o = all_[end - 1];
      o.reads |= m.role == Role::Use || m.role == Role::Mod;
      o.writes |= m.role == Role::Def || m.role == Role::Mod;
      o.isPartial |= m.role == Role::Mod;
    }
  }

  std::vector<Seen> seen_;  // by register
  std::vector<Mention> mentions_;
  std::vector<Occurrence> all_;
  std::vector<uint32_t> end_;  // by register: the end of its row in all_
};

}  // namespace

void LiveIntervals::compute(const SlotIndexes& slots, const std::vector<bool>* only) {
  using State = Walk::Seen::State;
  const Walk walk(f_, cfg_, slots, only);
  LiveRangeCalc calc(cfg_, dominators_, slots);
  for (uint32_t r = 0; r < f_.registers.size(); ++r) {
    const Walk::Seen& seen = walk[RegId(r)];
    if (seen.state == State::Unwanted) continue;
    LiveRange& range = ranges_[r];
    range.clear();
    if (seen.state == State::Local) {
      const SlotIndex def = seen.def.reg();
      range.reserve(1, 1);
      range.append({def, seen.mentions == 1 ? def.dead() : seen.last.reg(),
                    range.addValue({def, ValueKind::Instruction, false})});
    } else if (seen.state == State::Listed) {
      calc.calculate(walk.occurrences(RegId(r)), range);
    }
  }
}

LiveRange& LiveIntervals::add(RegId r) {
  while (ranges_.size() <= r.value) ranges_.emplace_back(memory_.get());
  return ranges_[r.value];
}

void LiveIntervals::recompute(std::span<const RegId> registers, const SlotIndexes& slots) {
  std::vector<bool> only(f_.registers.size());
  for (const RegId r : registers) {
    add(r);
    only[r.value] = true;
  }
  compute(slots, &only);
}

void LiveIntervals::moved(const std::vector<SlotIndexes::Move>& moves) {
  for (LiveRange& r : ranges_) r.moved(moves);
}

std::string LiveIntervals::verify() const {
  for (std::size_t r = 0; r < ranges_.size(); ++r)
    if (const std::string error = ranges_[r].verify(); !error.empty())
      return fmt::format("register {}: {}", r, error);
  return {};
}

}  // namespace ptxopt
