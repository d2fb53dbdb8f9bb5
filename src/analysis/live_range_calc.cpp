#include "analysis/live_range_calc.h"

#include <algorithm>

namespace ptxopt {

LiveRangeCalc::LiveRangeCalc(const Cfg& cfg, const SlotIndexes& slots)
    : cfg_(cfg), slots_(slots), order_(cfg.size()), isRoot_(cfg.size()), states_(cfg.size()) {
  const auto& post = cfg.postOrder();
  for (std::size_t i = 0; i < post.size(); ++i) order_[post[i].value] = static_cast<uint32_t>(post.size() - i);
  for (const BlockId b : cfg.roots()) isRoot_[b.value] = true;
}

LiveRangeCalc::BlockState& LiveRangeCalc::state(BlockId b) {
  BlockState& s = states_[b.value];
  if (s.epoch != epoch_) {
    s = BlockState();
    s.epoch = epoch_;
  }
  return s;
}

void LiveRangeCalc::calculate(std::span<const Occurrence> all, bool isParameter, LiveRange& range) {
  if (all.empty()) return;
  ++epoch_;
  // All in one block, and written before it is read: nothing crosses blocks.
  const BlockId first = slots_.blockAt(all.front().at);
  const bool oneBlock = all.back().at < slots_.end(first);
  if (oneBlock && !all.front().reads && !isParameter) {
    local(all, range);
    return;
  }
  findBlocks(all);
  findLiveIn(all);
  // Values: one for each definition, in the order of the text.
  definitions_.assign(all.size(), ValueId());
  std::size_t count = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!all[k].writes) continue;
    definitions_[k] = range.addValue({all[k].at.reg(), ValueKind::Instruction, all[k].isPartial});
    ++count;
  }
  for (const BlockId b : blocks_) {
    BlockState& s = state(b);
    for (uint32_t k = s.first; k < s.last; ++k)
      if (all[k].writes) s.out = definitions_[k];
  }
  bool entered = false;
  for (const BlockId b : liveIn_) {
    if (!isRoot_[b.value]) continue;
    entered = true;
    BlockState& s = state(b);
    s.in = range.addValue({slots_.start(b), ValueKind::Entry, false});
    if (!s.writes) s.out = s.in;
  }
  if (count == 1 && !entered) {
    // The single value: it is what every live-in block holds.
    for (const BlockId b : liveIn_) {
      BlockState& s = state(b);
      s.in = ValueId(0u);
      if (!s.writes) s.out = s.in;
    }
  } else {
    carryValues(range);
  }
  makeSegments(all, range);
  range.renumberValues();
}

void LiveRangeCalc::findBlocks(std::span<const Occurrence> all) {
  blocks_.clear();
  for (uint32_t k = 0; k < all.size();) {
    const BlockId b = slots_.blockAt(all[k].at);
    BlockState& s = state(b);
    s.inBlocks = true;
    s.first = k;
    while (k < all.size() && all[k].at < slots_.end(b)) {
      s.writes = s.writes || all[k].writes;
      ++k;
    }
    s.last = k;
    blocks_.push_back(b);
  }
}

void LiveRangeCalc::findLiveIn(std::span<const Occurrence> all) {
  liveIn_.clear();
  work_.clear();
  const auto mark = [&](BlockId b) {
    BlockState& s = state(b);
    if (s.liveIn) return;
    s.liveIn = true;
    liveIn_.push_back(b);
    work_.push_back(b);
  };
  for (const BlockId b : blocks_) {
    const BlockState& s = state(b);
    if (all[s.first].reads) mark(b);
  }
  while (!work_.empty()) {
    const BlockId b = work_.back();
    work_.pop_back();
    for (const BlockId p : cfg_.predecessors(b)) {
      if (!cfg_[p].reachable) continue;
      if (!state(p).writes) mark(p);
    }
  }
}

void LiveRangeCalc::carryValues(LiveRange& range) {
  std::sort(liveIn_.begin(), liveIn_.end(),
            [&](BlockId a, BlockId b) { return order_[a.value] < order_[b.value]; });
  for (bool changed = true; changed;) {
    changed = false;
    for (const BlockId b : liveIn_) {
      BlockState& s = state(b);
      if (s.in.valid() && range[s.in].def == slots_.start(b) && range[s.in].kind != ValueKind::Instruction) {
        // A phi or an entry value of its own stays. Where control both enters and comes back, the entry value is
        // the phi of all.
        continue;
      }
      ValueId met;
      bool differ = false;
      for (const BlockId p : cfg_.predecessors(b)) {
        if (!cfg_[p].reachable) continue;
        const ValueId out = state(p).out;
        if (!out.valid() || out == met) continue;
        differ = met.valid();
        if (differ) break;
        met = out;
      }
      if (differ) met = range.addValue({slots_.start(b), ValueKind::Phi, false});
      if (!met.valid() || met == s.in) continue;
      s.in = met;
      if (!s.writes) s.out = met;
      changed = true;
    }
  }
}

void LiveRangeCalc::makeSegments(std::span<const Occurrence> all, LiveRange& range) {
  // Blocks where it is live-in or mentioned, in the order of the text.
  for (const BlockId b : liveIn_)
    if (!state(b).inBlocks) blocks_.push_back(b);
  std::sort(blocks_.begin(), blocks_.end());
  for (const BlockId b : blocks_) {
    const BlockState& s = state(b);
    bool liveOut = false;
    for (const BlockId n : cfg_.successors(b)) liveOut = liveOut || state(n).liveIn;
    ValueId value = s.liveIn ? s.in : ValueId();
    SlotIndex from = slots_.start(b), until = from;
    for (uint32_t k = s.first; k < s.last; ++k) {
      const Occurrence& o = all[k];
      if (o.reads) until = o.at.slot() == SlotIndex::Block ? o.at.reg() : o.at;
      if (!o.writes) continue;
      if (value.valid() && until > from) range.append({from, until, value});
      value = definitions_[k];
      from = o.at.reg();
      until = o.at.dead();
    }
    if (liveOut) until = slots_.end(b);
    if (value.valid() && until > from) range.append({from, until, value});
  }
}

void LiveRangeCalc::local(std::span<const Occurrence> all, LiveRange& range) {
  ValueId value;
  SlotIndex from, until;
  for (const Occurrence& o : all) {
    if (o.reads) until = o.at.slot() == SlotIndex::Block ? o.at.reg() : o.at;
    if (!o.writes) continue;
    if (value.valid()) range.append({from, until, value});
    value = range.addValue({o.at.reg(), ValueKind::Instruction, o.isPartial});
    from = o.at.reg();
    until = o.at.dead();
  }
  if (value.valid()) range.append({from, until, value});
}

}  // namespace ptxopt
