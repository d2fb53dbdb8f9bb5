#include "analysis/live_range_calc.h"

#include <algorithm>

namespace ptxopt {

LiveRangeCalc::LiveRangeCalc(const Cfg& cfg, const DominatorTree& dominators, const SlotIndexes& slots)
    : cfg_(cfg),
      dominators_(dominators),
      slots_(slots),
      order_(cfg.size()),
      isRoot_(cfg.size()),
      states_(cfg.size()) {
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

void LiveRangeCalc::calculate(std::span<const Occurrence> all, LiveRange& range) {
  if (all.empty()) return;
  // All in one block, and written before it is read: nothing crosses blocks.
  if (!all.front().reads && all.back().at < slots_.end(slots_.blockAt(all.front().at))) {
    local(all, range);
    return;
  }
  ++epoch_;
  range_.clear();
  findBlocks(all);
  findLiveIn(all);
  makeValues(all);
  isSingle_ = range_.values().size() == 1;
  if (!isSingle_) carryValues();
  makeSegments(all);
  range_.renumberValues();
  range = range_;
}

void LiveRangeCalc::findBlocks(std::span<const Occurrence> all) {
  blocks_.clear();
  for (uint32_t k = 0; k < all.size();) {
    const BlockId b = slots_.blockAt(all[k].at);
    BlockState& s = state(b);
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
  const auto mark = [&](BlockId b, BlockState& s) {
    if (s.liveIn) return;
    s.liveIn = true;
    liveIn_.push_back(b);
    work_.push_back(b);
  };
  for (const BlockId b : blocks_) {
    BlockState& s = states_[b.value];
    if (all[s.first].reads) mark(b, s);
  }
  while (!work_.empty()) {
    const BlockId b = work_.back();
    work_.pop_back();
    for (const BlockId p : cfg_.predecessors(b)) {
      if (!cfg_[p].reachable) continue;
      BlockState& s = state(p);
      s.liveOut = true;
      if (!s.writes) mark(p, s);
    }
  }
}

// Values for definitions, in the order of the text, and for entries.
void LiveRangeCalc::makeValues(std::span<const Occurrence> all) {
  definitions_.assign(all.size(), ValueId());
  definingBlock_.clear();
  for (const BlockId b : blocks_) {
    BlockState& s = state(b);
    for (uint32_t k = s.first; k < s.last; ++k) {
      if (!all[k].writes) continue;
      s.out = definitions_[k] = range_.addValue({all[k].at.reg(), ValueKind::Instruction, all[k].isPartial});
      definingBlock_.push_back(b);
    }
  }
  for (const BlockId b : liveIn_) {
    if (!isRoot_[b.value]) continue;
    BlockState& s = states_[b.value];
    s.in = range_.addValue({slots_.start(b), ValueKind::Entry, false});
    definingBlock_.push_back(b);
    if (!s.writes) s.out = s.in;
  }
}

void LiveRangeCalc::carryValues() {
  // Sorting is for the few; most blocks of the function are better walked.
  if (liveIn_.size() < cfg_.size() / 4) {
    std::sort(liveIn_.begin(), liveIn_.end(),
              [&](BlockId a, BlockId b) { return order_[a.value] < order_[b.value]; });
  } else {
    liveIn_.clear();
    for (auto b = cfg_.postOrder().rbegin(); b != cfg_.postOrder().rend(); ++b)
      if (states_[b->value].epoch == epoch_ && states_[b->value].liveIn) liveIn_.push_back(*b);
  }
  // An entry value stays: where control both enters and comes back, it is the phi of all. So does a phi.
  const auto isSettled = [&](BlockId b, ValueId in) {
    return in.valid() && range_[in].kind != ValueKind::Instruction && definingBlock_[in.value] == b;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const BlockId b : liveIn_) {
      BlockState& s = states_[b.value];
      if (isSettled(b, s.in)) continue;
      const BlockId above = dominators_.parent(b);
      ValueId value = above.valid() ? state(above).out : ValueId();
      const auto before = cfg_.predecessors(b);
      const bool meets = before.size() > 1 && std::any_of(before.begin(), before.end(), [&](BlockId p) {
                           if (!cfg_[p].reachable) return false;
                           const ValueId out = states_[p.value].out;
                           return out.valid() && out != value &&
                                  (!above.valid() || dominators_.dominates(above, definingBlock_[out.value]));
                         });
      if (meets) {
        value = range_.addValue({slots_.start(b), ValueKind::Phi, false});
        definingBlock_.push_back(b);
      }
      if (!value.valid() || value == s.in) continue;
      s.in = value;
      if (!s.writes) s.out = value;
      changed = true;
    }
  }
}

void LiveRangeCalc::makeSegments(std::span<const Occurrence> all) {
  // Blocks where it is live-in or mentioned, in the order of the text.
  const std::size_t mentioned = blocks_.size();
  if (mentioned + liveIn_.size() < cfg_.size() / 4) {
    for (const BlockId b : liveIn_)
      if (states_[b.value].first == states_[b.value].last) blocks_.push_back(b);
    std::sort(blocks_.begin() + static_cast<std::ptrdiff_t>(mentioned), blocks_.end());
    std::inplace_merge(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(mentioned), blocks_.end());
  } else {
    blocks_.clear();
    for (uint32_t b = 0; b < cfg_.size(); ++b)
      if (states_[b].epoch == epoch_ && (states_[b].liveIn || states_[b].first != states_[b].last))
        blocks_.emplace_back(b);
  }
  for (const BlockId b : blocks_) {
    const BlockState& s = states_[b.value];
    ValueId value = !s.liveIn ? ValueId() : isSingle_ ? ValueId(0u) : s.in;
    SlotIndex from = slots_.start(b), until = from;
    for (uint32_t k = s.first; k < s.last; ++k) {
      const Occurrence& o = all[k];
      if (o.reads) until = o.at.slot() == SlotIndex::Block ? o.at.reg() : slots_.end(b);
      if (!o.writes) continue;
      if (value.valid() && until > from) range_.append({from, until, value});
      value = definitions_[k];
      from = o.at.reg();
      until = o.at.dead();
    }
    if (s.liveOut) until = slots_.end(b);
    if (value.valid() && until > from) range_.append({from, until, value});
  }
}

void LiveRangeCalc::local(std::span<const Occurrence> all, LiveRange& range) {
  const auto writes =
      static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const Occurrence& o) { return o.writes; }));
  range.reserve(writes, writes);
  ValueId value;
  SlotIndex from, until;
  for (const Occurrence& o : all) {
    if (o.reads) until = o.at.slot() == SlotIndex::Block ? o.at.reg() : slots_.end(slots_.blockAt(o.at));
    if (!o.writes) continue;
    if (value.valid()) range.append({from, until, value});
    value = range.addValue({o.at.reg(), ValueKind::Instruction, o.isPartial});
    from = o.at.reg();
    until = o.at.dead();
  }
  if (value.valid()) range.append({from, until, value});
}

}  // namespace ptxopt
