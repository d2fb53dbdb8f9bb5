#include "analysis/slot_indexes.h"

#include <algorithm>

namespace ptxopt {

SlotIndexes::SlotIndexes(const Function& f, const Cfg& cfg)
    : index_(f.instructions.size()), instructions_(cfg.size()) {
  uint32_t next = 0;
  std::vector<uint32_t> count(cfg.size());
  for (const InstrId id : f)
    if (f[id].isInstruction()) ++count[cfg.blockOf(id).value];
  start_.reserve(cfg.size() + 1);
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    start_.emplace_back(next);
    next += kSpacing;
    instructions_[b].reserve(count[b]);
    if (!cfg[BlockId(b)].first.valid()) continue;
    for (InstrId id = cfg[BlockId(b)].first;; id = f[id].next) {
      if (f[id].isInstruction()) {
        index_[id.value] = SlotIndex(next);
        next += kSpacing;
        instructions_[b].push_back(id);
      }
      if (id == cfg[BlockId(b)].last) break;
    }
  }
  start_.emplace_back(next);
}

BlockId SlotIndexes::blockAt(SlotIndex i) const {
  const auto after = std::upper_bound(start_.begin(), start_.end() - 1, i);
  return BlockId(static_cast<std::size_t>(after - start_.begin()) - 1);
}

InstrId SlotIndexes::instructionAt(SlotIndex i) const {
  const auto& list = instructions_[blockAt(i).value];
  const SlotIndex base = i.base();
  const auto at =
      std::lower_bound(list.begin(), list.end(), base, [&](InstrId x, SlotIndex s) { return index_[x.value] < s; });
  return at != list.end() && index_[at->value] == base ? *at : InstrId();
}

std::vector<SlotIndexes::Move> SlotIndexes::inserted(const Function& f, InstrId id, BlockId b) {
  if (index_.size() <= id.value) index_.resize(id.value + 1);
  auto& list = instructions_[b.value];
  // Behind the instruction that precedes it in the block.
  std::size_t place = 0;
  for (InstrId p = f[id].previous; p.valid(); p = f[p].previous) {
    if (!f[p].isInstruction() || !index_[p.value].valid()) continue;
    if (index_[p.value] < start_[b.value]) break;
    place = static_cast<std::size_t>(std::lower_bound(list.begin(), list.end(), index_[p.value],
                                                      [&](InstrId x, SlotIndex s) { return index_[x.value] < s; }) -
                                     list.begin()) +
            1;
    break;
  }
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(place), id);
  const auto number = [&](std::size_t i) { return index_[list[i].value].raw(); };
  const uint32_t before = place == 0 ? start_[b.value].raw() : number(place - 1);
  const uint32_t after = place + 1 < list.size() ? number(place + 1) : start_[b.value + 1].raw();
  const uint32_t room = (after - before) / 4;
  if (room >= 2) {
    index_[id.value] = SlotIndex(before + room / 2 * 4);
    return {};
  }

  // Spread out a window of neighbours, grown until each gets at least two places. It grows first within the block,
  // then over whole blocks; the last one may move the end of the function.
  struct Entry {
    bool isStart;
    uint32_t which;  // block or instruction
  };
  std::vector<Entry> entries{{false, id.value}};
  std::vector<Move> moves;
  uint32_t low = before, high = after;
  uint32_t blockLow = b.value, blockHigh = b.value;
  std::size_t first = place, last = place + 1;  // of list, in the window
  const auto enough = [&] { return (high - low) / 4 >= 2 * (static_cast<uint32_t>(entries.size()) + 1); };
  std::vector<Entry> front, back;  // front in reverse
  for (bool grew = true; !enough() && grew;) {
    grew = false;
    // Behind.
    const auto& behind = instructions_[blockHigh];
    if (last < behind.size()) {
      back.push_back({false, behind[last].value});
      ++last;
      high = last < behind.size() ? index_[behind[last].value].raw() : start_[blockHigh + 1].raw();
      grew = true;
    } else if (blockHigh + 1 < instructions_.size()) {
      ++blockHigh;
      back.push_back({true, blockHigh});
      last = 0;
      high = instructions_[blockHigh].empty() ? start_[blockHigh + 1].raw()
                                              : index_[instructions_[blockHigh][0].value].raw();
      grew = true;
    } else if (high == start_.back().raw()) {
      // Nothing follows: the function's end moves.
      back.push_back({true, static_cast<uint32_t>(instructions_.size())});
      high = UINT32_MAX - 3 - high > kSpacing * 4 * static_cast<uint32_t>(entries.size() + 4)
                 ? high + kSpacing * 4 * static_cast<uint32_t>(entries.size() + 4)
                 : UINT32_MAX - 3;
      grew = true;
    }
    // Before.
    if (first > 0) {
      --first;
      front.push_back({false, instructions_[blockLow][first].value});
      low = first > 0 ? index_[instructions_[blockLow][first - 1].value].raw() : start_[blockLow].raw();
      grew = true;
    } else if (blockLow > 0) {
      front.push_back({true, blockLow});
      --blockLow;
      first = instructions_[blockLow].size();
      low = first > 0 ? index_[instructions_[blockLow][first - 1].value].raw() : start_[blockLow].raw();
      grew = true;
    }
    entries.resize(front.size() + back.size() + 1);
  }
  entries.assign(front.rbegin(), front.rend());
  entries.push_back({false, id.value});
  entries.insert(entries.end(), back.begin(), back.end());
  const uint64_t places = (high - low) / 4;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const SlotIndex to(low + static_cast<uint32_t>(places * (k + 1) / (entries.size() + 1)) * 4);
    SlotIndex& now = entries[k].isStart ? start_[entries[k].which] : index_[entries[k].which];
    if (now.valid() && now != to) moves.push_back({now, to});
    now = to;
  }
  return moves;
}

void SlotIndexes::removed(InstrId id, BlockId b) {
  auto& list = instructions_[b.value];
  const auto at = std::find(list.begin(), list.end(), id);
  if (at != list.end()) list.erase(at);
  index_[id.value] = SlotIndex();
}

// The same places for the same instructions; the numbers may differ after insertions.
bool operator==(const SlotIndexes& a, const SlotIndexes& b) {
  return a.instructions_ == b.instructions_ && a.start_.size() == b.start_.size();
}

}  // namespace ptxopt
