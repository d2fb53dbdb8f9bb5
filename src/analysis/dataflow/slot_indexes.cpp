#include "analysis/dataflow/slot_indexes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace ptxopt {

SlotIndexes::SlotIndexes(const Function& f, const Cfg& cfg) : index_(f.instructions.size()), rows_(cfg.size()) {
  instructions_.reserve(f.instructions.size());
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    Row& row = rows_[b];
    row.first = static_cast<uint32_t>(instructions_.size());
    for (InstrId id = cfg[BlockId(b)].first; id.valid(); id = f[id].next) {
      if (f[id].isInstruction()) instructions_.push_back(id);
      if (id == cfg[BlockId(b)].last) break;
    }
    row.size = row.room = static_cast<uint32_t>(instructions_.size()) - row.first;
  }
  const std::size_t total = cfg.size() + instructions_.size();
  uint32_t spacing = kSpacing;
  while (spacing > kLeastSpacing && total * spacing > kMostAtFirst) spacing /= 2;
  shift_ = static_cast<unsigned>(std::countr_zero(spacing));
  firstPlaces_.reserve(total);
  uint32_t next = 0;
  start_.reserve(cfg.size() + 1);
  for (uint32_t b = 0; b < cfg.size(); ++b) {
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

BlockId SlotIndexes::blockAt(SlotIndex i) const {
  if (const std::size_t place = i.raw() >> shift_; place < firstPlaces_.size()) return firstPlaces_[place].block;
  const auto after = std::upper_bound(start_.begin(), start_.end() - 1, i);
  return BlockId(static_cast<std::size_t>(after - start_.begin()) - 1);
}

std::size_t SlotIndexes::placeOf(SlotIndex i, BlockId b) const {
  const std::span<const InstrId> list = instructions(b);
  const auto at =
      std::lower_bound(list.begin(), list.end(), i, [&](InstrId x, SlotIndex s) { return index_[x.value] < s; });
  return static_cast<std::size_t>(at - list.begin());
}

InstrId SlotIndexes::instructionAt(SlotIndex i) const {
  if (const std::size_t place = i.raw() >> shift_; place < firstPlaces_.size()) {
    const InstrId first = firstPlaces_[place].instruction;
    if (first.valid() && index_[first.value] == i.base()) return first;
  }
  const BlockId b = blockAt(i);
  const std::span<const InstrId> list = instructions(b);
  const std::size_t at = placeOf(i.base(), b);
  return at < list.size() && index_[list[at].value] == i.base() ? list[at] : InstrId();
}

std::vector<SlotIndexes::Move> SlotIndexes::inserted(const Function& f, InstrId id, BlockId b) {
  if (index_.size() <= id.value) index_.resize(f.instructions.size());
  // After the instruction that precedes it in the block.
  std::size_t place = 0;
  for (InstrId p = f[id].previous; p.valid(); p = f[p].previous) {
    const SlotIndex before = (*this)[p];
    if (!before.valid()) continue;
    if (before > start_[b.value]) place = placeOf(before, b) + 1;
    break;
  }
  Row& row = rows_[b.value];
  if (row.size == row.room) {  // it moves to the end of the array, to where there is room
    const auto from = static_cast<uint32_t>(instructions_.size());
    row.room = 2 * row.size + kLeastRoom;
    instructions_.resize(from + row.room);
    std::copy_n(instructions_.begin() + row.first, row.size, instructions_.begin() + from);
    row.first = from;
  }
  InstrId* const list = instructions_.data() + row.first;
  std::copy_backward(list + place, list + row.size, list + row.size + 1);
  list[place] = id;
  ++row.size;
  const uint32_t before = numberBefore(b, place), after = numberAt(b, place + 1);
  const uint32_t room = (after - before) / 4;
  if (room < 2) return spread(b, place);
  index_[id.value] = SlotIndex(before + room / 2 * 4);
  return {};
}

// The number of what stands before and at a place of a block's list; after its end, that is the next block.
uint32_t SlotIndexes::numberBefore(BlockId b, std::size_t place) const {
  return place == 0 ? start_[b.value].raw() : index_[instructions(b)[place - 1].value].raw();
}
uint32_t SlotIndexes::numberAt(BlockId b, std::size_t place) const {
  const std::span<const InstrId> list = instructions(b);
  return place < list.size() ? index_[list[place].value].raw() : start_[b.value + 1].raw();
}

// Numbers anew what stands around a place, which has no number yet: in a window that grows to both sides until
// there is room enough in it. Windows ask for more room the larger they are, so that one that was spread out is
// not soon to be spread again; the cost of many insertions at one place is then a logarithm squared each (Itai,
// Konheim and Rodeh, "A sparse table implementation of priority queues", 1981).
std::vector<SlotIndexes::Move> SlotIndexes::spread(BlockId b, std::size_t place) {
  std::vector<SlotIndex*> front, back;  // front in reverse
  uint32_t lowBlock = b.value, highBlock = b.value;
  std::size_t first = place, last = place + 1;  // the window in the lists of these blocks, [first, last)
  uint64_t low = numberBefore(b, first), high = numberAt(b, last);
  bool hasEnd = false;
  const auto size = [&] { return front.size() + back.size() + 1; };
  const auto isEnough = [&] {
    const uint64_t tenths = 20 + 6 * static_cast<uint64_t>(std::bit_width(size()));  // places for each
    return (high - low) / 4 * 10 >= tenths * (size() + 1);
  };
  for (bool grew = true; grew && !isEnough();) {
    grew = true;
    if (last < rows_[highBlock].size) {
      back.push_back(&index_[instructions(BlockId(highBlock))[last++].value]);
    } else if (highBlock + 1 < rows_.size()) {
      back.push_back(&start_[++highBlock]);
      last = 0;
    } else if (!hasEnd) {
      back.push_back(&start_.back());
      hasEnd = true;
    } else {
      grew = false;
    }
    if (first > 0) {
      front.push_back(&index_[instructions(BlockId(lowBlock))[--first].value]);
      grew = true;
    } else if (lowBlock > 0) {
      front.push_back(&start_[lowBlock--]);
      first = rows_[lowBlock].size;
      grew = true;
    }
    low = numberBefore(BlockId(lowBlock), first);
    // Nothing follows the end: it moves as far as is wanted.
    high = hasEnd ? std::min<uint64_t>(kLast, uint64_t{start_.back().raw()} + size() * kSpacing)
                  : numberAt(BlockId(highBlock), last);
  }

  std::vector<SlotIndex*> window(front.rbegin(), front.rend());
  window.push_back(&index_[instructions(b)[place].value]);
  window.insert(window.end(), back.begin(), back.end());
  firstPlaces_.clear();
  std::vector<Move> moves;
  const uint64_t places = (high - low) / 4;
  for (std::size_t k = 0; k < window.size(); ++k) {
    const SlotIndex to(static_cast<uint32_t>(low + places * (k + 1) / (window.size() + 1) * 4));
    if (window[k]->valid() && *window[k] != to) moves.push_back({*window[k], to});
    *window[k] = to;
  }
  return moves;
}

void SlotIndexes::removed(InstrId id, BlockId b) {
  Row& row = rows_[b.value];
  InstrId* const list = instructions_.data() + row.first;
  std::copy(list + placeOf(index_[id.value], b) + 1, list + row.size, list + placeOf(index_[id.value], b));
  --row.size;
  index_[id.value] = SlotIndex();
}

SlotIndexes::Translation::Translation(const SlotIndexes& before, const SlotIndexes& now) : shift_(before.shift_) {
  now_.reserve(before.firstPlaces_.size() + 1);
  for (const FirstPlace& p : before.firstPlaces_)
    now_.push_back(p.instruction.valid() ? now[p.instruction] : now.start(p.block));
  now_.push_back(now.lastOfFunction());
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
  for (std::size_t b = 0; b < rows_.size(); ++b) {
    follows(start_[b], "block", b);
    for (const InstrId id : instructions(BlockId(b))) follows((*this)[id], "instruction", id.value);
  }
  follows(start_.back(), "the end after block", rows_.size());
  return error;
}

// The same places for the same instructions; the numbers may differ after insertions.
bool operator==(const SlotIndexes& a, const SlotIndexes& b) {
  if (a.rows_.size() != b.rows_.size()) return false;
  for (uint32_t k = 0; k < a.rows_.size(); ++k)
    if (!std::ranges::equal(a.instructions(BlockId(k)), b.instructions(BlockId(k)))) return false;
  return true;
}

}  // namespace ptxopt
