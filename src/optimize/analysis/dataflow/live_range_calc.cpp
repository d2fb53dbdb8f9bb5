// Registers with one write or within one block take short ways. Tables are indexed by block, kept from register to
// register and cleared only where they were used; block numbers are sorted by bits where they lie close.
#include "analysis/dataflow/live_range_calc.h"

#include <algorithm>
#include <bit>

namespace ptxopt {

LiveRangeCalc::LiveRangeCalc(const Cfg& cfg, const DominatorTree& dominators, const SlotIndexes& slots)
    : cfg_(cfg), dominators_(dominators), slots_(slots) {}

void LiveRangeCalc::makeTables() {
  const std::size_t blocks = cfg_.size();
  for (BitVector* bits : {&isRoot_, &writes_, &closed_, &isLiveIn_}) bits->resize(blocks);
  found_.resize(blocks);
  sorter_.setBound(blocks);
  values_.resize(blocks);
  for (const BlockId b : cfg_.roots()) isRoot_.set(b.value);
  for (uint32_t b = 0; b < blocks; ++b)
    if (!cfg_[BlockId(b)].reachable) closed_.set(b);
}

void LiveRangeCalc::makeOrder() {
  const std::size_t blocks = cfg_.size();
  for (BitVector* bits : {&goesBack_, &comesBack_, &joins_}) bits->resize(blocks);
  order_.resize(blocks);
  const auto& post = cfg_.postOrder();
  for (std::size_t i = 0; i < post.size(); ++i) order_[post[i].value] = static_cast<uint32_t>(post.size() - 1 - i);
  for (uint32_t b = 0; b < blocks; ++b) {
    for (const BlockId s : cfg_.successors(BlockId(b))) {
      if (order_[s.value] > order_[b]) continue;
      goesBack_.set(b);
      comesBack_.set(order_[s.value]);
    }
    if (cfg_.predecessors(BlockId(b)).size() > 1) joins_.set(order_[b]);
  }
}

void LiveRangeCalc::Sorter::sort(std::vector<uint32_t>& numbers) {
  if (numbers.size() < 2) return;
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  const std::size_t first = *least / 64, last = *most / 64;
  // Few and far between.
  if (numbers.size() < (last - first) / 8) {
    std::sort(numbers.begin(), numbers.end());
    return;
  }
  for (const uint32_t n : numbers) words_[n / 64] |= uint64_t{1} << (n % 64);
  auto out = numbers.begin();
  for (std::size_t w = first; w <= last; ++w) {
    for (uint64_t word = words_[w]; word != 0; word &= word - 1)
      *out++ = static_cast<uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
    words_[w] = 0;
  }
}

// All in one block, and written before it is read: nothing crosses blocks.
bool LiveRangeCalc::isLocal(std::span<const SlotOccurrence> all) const {
  return !all.front().reads && all.back().at < slots_.end(slots_.blockAt(all.front().at));
}

void LiveRangeCalc::calculate(std::span<const SlotOccurrence> all, LiveRange& range) {
  if (all.empty()) return;
  if (isLocal(all)) {
    local(all, range);
    return;
  }
  const bool isWrittenOnce = findMentions(all);
  findLiveIn(all);
  isSorted_ = false;
  calculate(all, isWrittenOnce, range);
}

void LiveRangeCalc::calculate(std::span<const SlotOccurrence> all, std::span<const uint32_t> liveIn,
                              LiveRange& range) {
  if (all.empty()) return;
  if (isLocal(all)) {
    local(all, range);
    return;
  }
  const bool isWrittenOnce = findMentions(all);
  for (const uint32_t b : liveIn) isLiveIn_.set(b);
  liveBlocks_.assign(liveIn.begin(), liveIn.end());
  isSorted_ = true;
  calculate(all, isWrittenOnce, range);
}

void LiveRangeCalc::calculate(std::span<const SlotOccurrence> all, bool isWrittenOnce, LiveRange& range) {
  range_.clear();
  if (isWrittenOnce && !isLiveAtEntry()) {
    single(all, range);
    return;
  }
  makeValues(all);
  isSingle_ = range_.values().size() == 1;
  if (!isSingle_) carryValues();
  makeSegments(all);
  reset();
  range_.renumberValues();
  range = range_;
}

// Whether there is one write.
bool LiveRangeCalc::findMentions(std::span<const SlotOccurrence> all) {
  if (values_.empty()) makeTables();
  mentions_.clear();
  uint32_t writes = 0;
  for (uint32_t k = 0; k < all.size();) {
    Mention m{slots_.blockAt(all[k].at), k, k};
    const SlotIndex end = slots_.end(m.block);
    const uint32_t before = writes;
    for (; m.last < all.size() && all[m.last].at < end; ++m.last) writes += all[m.last].writes ? 1 : 0;
    if (writes != before) {
      writes_.set(m.block.value);
      closed_.set(m.block.value);
    }
    k = m.last;
    mentions_.push_back(m);
  }
  return writes == 1;
}

void LiveRangeCalc::findLiveIn(std::span<const SlotOccurrence> all) {
  // In memory that does not grow: there is nothing to look up again in the loops.
  uint32_t* const live = found_.data();
  std::size_t count = 0;
  const auto add = [&](uint32_t b) {
    closed_.set(b);
    isLiveIn_.set(b);
    live[count++] = b;
  };
  for (const Mention& m : mentions_) {
    if (all[m.first].reads) add(m.block.value);
  }
  for (std::size_t k = 0; k < count; ++k)
    for (const BlockId p : cfg_.predecessors(BlockId(live[k])))
      if (!closed_.test(p.value)) add(p.value);
  liveBlocks_.assign(live, live + count);
}

// Values for definitions, in the order of the text, and for entries.
void LiveRangeCalc::makeValues(std::span<const SlotOccurrence> all) {
  definitions_.assign(all.size(), ValueId());
  definingBlock_.clear();
  for (const Mention& m : mentions_) {
    for (uint32_t k = m.first; k < m.last; ++k) {
      if (!all[k].writes) continue;
      definitions_[k] = range_.addValue({all[k].at.reg(), ValueKind::Instruction, all[k].isPartial});
      values_[m.block.value].out = definitions_[k];
      definingBlock_.push_back(m.block);
    }
  }
  const auto enter = [&](BlockId b) {
    const ValueId in = range_.addValue({slots_.start(b), ValueKind::Entry, false});
    values_[b.value].in = in;
    if (!writes_.test(b.value)) values_[b.value].out = in;
    definingBlock_.push_back(b);
  };
  if (cfg_.roots().size() < liveBlocks_.size()) {
    for (const BlockId b : cfg_.roots())
      if (startsLive(b)) enter(b);
  } else {
    for (const uint32_t b : liveBlocks_)
      if (isRoot_.test(b)) enter(BlockId(b));
  }
}

void LiveRangeCalc::sortLiveBlocks() {
  if (!isSorted_) sorter_.sort(liveBlocks_);
  isSorted_ = true;
}

void LiveRangeCalc::carryValues() {
  if (order_.empty()) makeOrder();
  places_.clear();
  for (const uint32_t b : liveBlocks_) places_.push_back(order_[b]);
  sorter_.sort(places_);
  // An entry value stays: where control both enters and comes back, it is the phi of all. So does a phi.
  const auto isSettled = [&](BlockId b, ValueId in) {
    return in.valid() && range_[in].kind != ValueKind::Instruction && definingBlock_[in.value] == b;
  };
  // A block depends on its immediate dominator and on its predecessors. Most stand before it in the order: after
  // the first iteration, there is nothing to do before the first block that changes by one that does not.
  bool isSettledSoFar = false;
  for (bool again = true; again; isSettledSoFar = true) {
    again = false;
    for (const uint32_t place : places_) {
      if (isSettledSoFar && !comesBack_.test(place)) continue;
      const BlockId b = cfg_.postOrder()[cfg_.size() - 1 - place];
      Values& v = values_[b.value];
      if (isSettled(b, v.in)) continue;
      const BlockId above = dominators_.parent(b);
      ValueId value = above.valid() ? values_[above.value].out : ValueId();
      const auto before = cfg_.predecessors(b);
      const bool meets = joins_.test(place) && std::any_of(before.begin(), before.end(), [&](BlockId p) {
                           const ValueId out = values_[p.value].out;
                           return out.valid() && out != value &&
                                  (!above.valid() || dominators_.dominates(above, definingBlock_[out.value]));
                         });
      if (meets) {
        value = range_.addValue({slots_.start(b), ValueKind::Phi, false});
        definingBlock_.push_back(b);
      }
      if (!value.valid() || value == v.in) continue;
      v.in = value;
      if (writes_.test(b.value)) continue;
      v.out = value;
      isSettledSoFar = false;
      // The others that look at this block come later in the same iteration.
      again = again || goesBack_.test(b.value);
    }
  }
}

// Blocks where it is live-in and those that mention it, in the order of the text.
void LiveRangeCalc::makeSegments(std::span<const SlotOccurrence> all) {
  sortLiveBlocks();
  // Neighbours that one value lives through.
  uint32_t first = 0, end = 0;
  ValueId through;
  const auto flush = [&] {
    if (first != end) range_.append({slots_.start(BlockId(first)), slots_.start(BlockId(end)), through});
    first = end;
  };
  auto mention = mentions_.begin();
  for (const uint32_t b : liveBlocks_) {
    for (; mention != mentions_.end() && mention->block.value <= b; ++mention) {
      flush();
      appendMention(*mention, mention->block.value == b, all);
    }
    if (mention != mentions_.begin() && (mention - 1)->block.value == b) continue;
    const ValueId value = isSingle_ ? ValueId(0u) : values_[b].in;
    if (b != end || value != through) {
      flush();
      first = b;
      through = value;
    }
    end = b + 1;
  }
  flush();
  for (; mention != mentions_.end(); ++mention) appendMention(*mention, false, all);
}

void LiveRangeCalc::appendMention(const Mention& m, bool isLiveIn, std::span<const SlotOccurrence> all) {
  const BlockId b = m.block;
  ValueId value = !isLiveIn ? ValueId() : isSingle_ ? ValueId(0u) : values_[b.value].in;
  SlotIndex from = slots_.start(b), until = from;
  for (uint32_t k = m.first; k < m.last; ++k) {
    const SlotOccurrence& o = all[k];
    if (o.reads) until = o.at.slot() == SlotIndex::Block ? o.at.reg() : slots_.end(b);
    if (!o.writes) continue;
    if (value.valid() && until > from) range_.append({from, until, value});
    value = definitions_[k];
    from = o.at.reg();
    until = o.at.dead();
  }
  const auto after = cfg_.successors(b);
  if (std::any_of(after.begin(), after.end(), [&](BlockId s) { return startsLive(s); })) until = slots_.end(b);
  if (value.valid() && until > from) range_.append({from, until, value});
}

bool LiveRangeCalc::isLiveAtEntry() const {
  if (cfg_.roots().size() < liveBlocks_.size())
    return std::ranges::any_of(cfg_.roots(), [&](BlockId b) { return isLiveIn_.test(b.value); });
  return std::ranges::any_of(liveBlocks_, [&](uint32_t b) { return isRoot_.test(b); });
}

template <typename Visit>
void LiveRangeCalc::forEachRun(Visit visit) {
  if (liveBlocks_.empty()) return;
  const auto [least, most] = isSorted_
                                 ? std::ranges::minmax_result<uint32_t>{liveBlocks_.front(), liveBlocks_.back()}
                                 : std::ranges::minmax(liveBlocks_);
  // Few and far between.
  if (liveBlocks_.size() < (most - least) / 512) {
    sortLiveBlocks();
    for (std::size_t k = 0; k < liveBlocks_.size();) {
      const uint32_t first = liveBlocks_[k];
      uint32_t end = first;
      for (; k < liveBlocks_.size() && liveBlocks_[k] == end; ++k) ++end;
      visit(first, end);
    }
    return;
  }
  for (std::size_t first = least; first <= most; first = isLiveIn_.findFrom(first)) {
    const std::size_t end = isLiveIn_.findClearFrom(first);
    visit(static_cast<uint32_t>(first), static_cast<uint32_t>(end));
    if (end > most) break;
    first = end;
  }
}

// The block that writes it is not live-in: control would come there without the value.
void LiveRangeCalc::single(std::span<const SlotOccurrence> all, LiveRange& range) {
  const auto lives = [&](BlockId b) {
    return std::ranges::any_of(cfg_.successors(b), [&](BlockId s) { return isLiveIn_.test(s.value); });
  };
  const auto lastRead = [&](const Mention& m) {
    const SlotIndex at = all[m.last - 1].at;
    return at.slot() == SlotIndex::Block ? at.reg() : slots_.end(m.block);
  };
  constexpr ValueId value(0u);
  // The mentions of blocks before `bound`; `from`: where the value is live from since the last.
  auto m = mentions_.begin();
  SlotIndex from;
  const auto passMentions = [&](uint32_t bound) {
    for (; m != mentions_.end() && m->block.value < bound; ++m) {
      SlotIndex until;
      if (writes_.test(m->block.value)) {
        const SlotOccurrence& write = all[m->first];
        range_.addValue({write.at.reg(), ValueKind::Instruction, write.isPartial});
        from = write.at.reg();
        until = lives(m->block) ? slots_.end(m->block) : m->last - m->first == 1 ? write.at.dead() : lastRead(*m);
      } else if (!lives(m->block)) {
        until = lastRead(*m);
      } else {
        continue;
      }
      range_.append({from, until, value});
      from = slots_.end(m->block);
    }
  };
  forEachRun([&](uint32_t first, uint32_t end) {
    passMentions(first);
    from = slots_.start(BlockId(first));
    passMentions(end);
    if (const SlotIndex until = slots_.start(BlockId(end)); from < until) range_.append({from, until, value});
  });
  passMentions(UINT32_MAX);
  for (const uint32_t b : liveBlocks_) {
    closed_.reset(b);
    isLiveIn_.reset(b);
  }
  for (const Mention& mention : mentions_) {
    closed_.reset(mention.block.value);
    writes_.reset(mention.block.value);
  }
  range = range_;
}

void LiveRangeCalc::reset() {
  for (const uint32_t b : liveBlocks_) {
    closed_.reset(b);
    isLiveIn_.reset(b);
  }
  if (!isSingle_)
    for (const uint32_t b : liveBlocks_) values_[b] = {};
  for (const BlockId b : definingBlock_) values_[b.value] = {};
  for (const Mention& m : mentions_) {
    closed_.reset(m.block.value);
    writes_.reset(m.block.value);
  }
}

void LiveRangeCalc::local(std::span<const SlotOccurrence> all, LiveRange& range) {
  const auto writes = static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const SlotOccurrence& o) { return o.writes; }));
  range.reserve(writes, writes);
  ValueId value;
  SlotIndex from, until;
  for (const SlotOccurrence& o : all) {
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
