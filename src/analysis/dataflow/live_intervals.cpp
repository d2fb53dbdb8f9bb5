#include "analysis/dataflow/live_intervals.h"

#include <fmt/format.h>

#include <algorithm>

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

// Occurrences by register as compressed rows: noted in one walk in the order of the text, then put into place.
void LiveIntervals::compute(const SlotIndexes& slots, const std::vector<bool>* only) {
  struct Mention {
    uint32_t reg;
    Occurrence what;
  };
  const std::size_t registers = f_.registers.size();
  const auto wanted = [&](RegId r) { return only == nullptr || (*only)[r.value]; };
  std::vector<Mention> mentions;
  if (only == nullptr) mentions.reserve(f_.operands.size());
  std::vector<uint32_t> start(registers + 1), latest(registers, UINT32_MAX);
  const auto note = [&](RegId r, const Occurrence& what) {
    uint32_t& at = latest[r.value];
    if (at == UINT32_MAX || mentions[at].what.at != what.at) {
      at = static_cast<uint32_t>(mentions.size());
      mentions.push_back({r.value, what});
      ++start[r.value + 1];
      return;
    }
    Occurrence& o = mentions[at].what;
    o.reads |= what.reads;
    o.writes |= what.writes;
    o.isPartial |= what.isPartial;
  };
  for (uint32_t b = 0; b < cfg_.size(); ++b) {
    if (!cfg_[BlockId(b)].reachable) continue;
    for (const InstrId id : slots.instructions(BlockId(b))) {
      const SlotIndex at = slots[id];
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.isRegister() && wanted(o.reg())) note(o.reg(), {at, o.reads(), o.writes(), o.role == Role::Mod});
    }
    if (b + 1 != cfg_.size() || !fallsOffTheEnd(f_, cfg_[BlockId(b)])) continue;
    // No instruction reads the results there. Any slot but Block stands for that.
    for (const RegId r : f_.returnRegisters)
      if (wanted(r)) note(r, {slots.end(BlockId(b)).previous(), true, false, false});
  }
  for (std::size_t r = 0; r < registers; ++r) start[r + 1] += start[r];
  std::vector<Occurrence> all(mentions.size());
  std::vector<uint32_t>& next = latest;
  std::copy(start.begin(), start.end() - 1, next.begin());
  for (const Mention& m : mentions) all[next[m.reg]++] = m.what;

  LiveRangeCalc calc(cfg_, dominators_, slots);
  for (std::size_t r = 0; r < registers; ++r) {
    if (!wanted(RegId(r))) continue;
    ranges_[r].clear();
    calc.calculate({all.data() + start[r], all.data() + start[r + 1]}, ranges_[r]);
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
