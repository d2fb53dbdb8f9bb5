// Numbers are spaced by powers of two, so that a table by the number's upper bits leads to the block and instruction of
// any place. New instructions are spread evenly over the room between their neighbours.
#include "analysis/dataflow/slot_indexes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace ptxopt {

SlotIndexes::SlotIndexes(const Function& f, const Cfg& cfg) : cfg_(&cfg) { numberAll(f.instructions.size()); }

void SlotIndexes::numberAll(std::size_t instructionIds) {
  const std::size_t blocks = cfg_->size(), total = blocks + cfg_->instructionsBefore(BlockId(blocks));
  uint32_t spacing = kSpacing;
  while (spacing > kLeastSpacing && total * spacing > kMostAtFirst) spacing /= 2;
  shift_ = static_cast<unsigned>(std::countr_zero(spacing));
  index_.assign(instructionIds, SlotIndex());
  firstPlaces_.clear();
  firstPlaces_.reserve(total);
  uint32_t next = 0;
  start_.clear();
  start_.reserve(blocks + 1);
  for (uint32_t b = 0; b < blocks; ++b) {
    start_.emplace_back(next);
    firstPlaces_.push_back({BlockId(b), InstrId()});
    next += spacing;
    for (const InstrId id : instructions(BlockId(b))) {
      index_[id.value] = SlotIndex(next);
      firstPlaces_.push_back({BlockId(b), id});
      next += spacing;
    }
  }
  start_.emplace_back(next);
}

bool SlotIndexes::update(const Function& f, const Cfg& cfg) {
  cfg_ = &cfg;
  index_.resize(f.instructions.size());
  const std::vector<SlotIndex> was = std::exchange(index_, std::vector<SlotIndex>(index_.size()));
  bool hasRoom = true;
  for (uint32_t b = 0; b < cfg.size() && hasRoom; ++b) {
    const std::span<const InstrId> block = instructions(BlockId(b));
    SlotIndex last = start(BlockId(b));
    const SlotIndex blockEnd = end(BlockId(b));
    std::size_t fresh = 0;  // the first without a number
    for (std::size_t k = 0; k < block.size() && hasRoom; ++k) {
      const SlotIndex old = was[block[k].value];  // that of no place is the largest
      if (old <= last || old >= blockEnd) continue;
      if (fresh != k) hasRoom = fill(block.subspan(fresh, k - fresh), last, old);
      last = index_[block[k].value] = old;
      fresh = k + 1;
    }
    if (fresh != block.size()) hasRoom = hasRoom && fill(block.subspan(fresh), last, blockEnd);
  }
  if (!hasRoom) numberAll(f.instructions.size());
  return hasRoom;
}

// Numbers for instructions between two places, evenly spread; false when there is no room.
bool SlotIndexes::fill(std::span<const InstrId> fresh, SlotIndex after, SlotIndex before) {
  const uint64_t places = (before.raw() - after.raw()) / 4, parts = fresh.size() + 1;
  if (places < parts) return false;
  for (std::size_t k = 0; k < fresh.size(); ++k)
    index_[fresh[k].value] = SlotIndex(after.raw() + static_cast<uint32_t>(places * (k + 1) / parts * 4));
  return true;
}

BlockId SlotIndexes::blockAt(SlotIndex i) const {
  return firstPlaces_[std::min<std::size_t>(i.raw() >> shift_, firstPlaces_.size() - 1)].block;
}

std::size_t SlotIndexes::placeOf(SlotIndex i, BlockId b) const {
  const std::span<const InstrId> list = instructions(b);
  const auto at =
      std::lower_bound(list.begin(), list.end(), i, [&](InstrId x, SlotIndex s) { return index_[x.value] < s; });
  return static_cast<std::size_t>(at - list.begin());
}

InstrId SlotIndexes::instructionAt(SlotIndex i) const {
  const std::size_t place = i.raw() >> shift_;
  if (place >= firstPlaces_.size()) return {};
  const FirstPlace& first = firstPlaces_[place];
  if (first.instruction.valid() && index_[first.instruction.value] == i.base()) return first.instruction;
  const std::span<const InstrId> list = instructions(first.block);
  const std::size_t at = placeOf(i.base(), first.block);
  return at < list.size() && index_[list[at].value] == i.base() ? list[at] : InstrId();
}

std::size_t SlotIndexes::countBefore(SlotIndex i) const {
  const BlockId b = i == lastOfFunction() ? BlockId(cfg_->size()) : blockAt(i);
  return b.value + cfg_->instructionsBefore(b) + (i == start(b) ? 0 : 1 + placeOf(i, b));
}

std::string SlotIndexes::verify() const {
  SlotIndex last;
  std::string error;
  const auto follows = [&](SlotIndex i, const char* what, std::size_t which) {
    const bool fits = i.valid() && i.slot() == SlotIndex::Block && (!last.valid() || last < i);
    if (!fits && error.empty())
      error = fmt::format("the number of {} {} does not follow the one before", what, which);
    last = i;
  };
  for (std::size_t b = 0; b < cfg_->size(); ++b) {
    follows(start_[b], "block", b);
    for (const InstrId id : instructions(BlockId(b))) follows((*this)[id], "instruction", id.value);
  }
  follows(start_.back(), "the end after block", cfg_->size());
  return error;
}

// The same places for the same instructions; the numbers may differ after updates.
bool operator==(const SlotIndexes& a, const SlotIndexes& b) {
  return *a.cfg_ == *b.cfg_ && std::ranges::equal(a.index_, b.index_, {}, &SlotIndex::valid, &SlotIndex::valid);
}

}  // namespace ptxopt
