// Numbers for the places of a function, in the order of its text.
//
// An instruction has four slots:
//     Block          before it: where values live into a block begin
//     EarlyClobber   where a result begins that must not share a register with a source
//     Register       where sources are read for the last time and results begin
//     Dead           where a result that nobody reads ends
// A block owns [start, end), and the end of one is the start of the next. Only real instructions have numbers, not
// labels, directives and braces.
//
// Between neighbours there is room, so that numbers stay when the function changes: `update` gives new instructions
// numbers from the room where they stand. Where there is none, all are numbered anew. The starts of blocks stay until then.
// Numbers are 32 bits: functions up to 2^28 blocks and instructions together, with less room between them from 2^25 on.
// Cost: linear to make and to update; the block at a number is one look-up of an array, its instruction one more, or a
// binary search if the function has changed there.
#pragma once

#include <compare>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "analysis/dataflow/cfg.h"

namespace ptxopt {

class SlotIndex {
 public:
  enum Slot : uint32_t { Block, EarlyClobber, Register, Dead };

  constexpr SlotIndex() = default;
  constexpr explicit SlotIndex(uint32_t raw) : raw_(raw) {}

  constexpr bool valid() const { return raw_ != UINT32_MAX; }
  constexpr uint32_t raw() const { return raw_; }
  constexpr Slot slot() const { return static_cast<Slot>(raw_ & 3); }
  // The same instruction's other slots.
  constexpr SlotIndex base() const { return SlotIndex(raw_ & ~3u); }
  constexpr SlotIndex at(Slot s) const { return SlotIndex((raw_ & ~3u) | s); }
  constexpr SlotIndex reg() const { return at(Register); }
  constexpr SlotIndex dead() const { return at(Dead); }
  // The slot directly before, which may be another instruction's.
  constexpr SlotIndex previous() const { return SlotIndex(raw_ - 1); }

  friend constexpr auto operator<=>(SlotIndex, SlotIndex) = default;

 private:
  uint32_t raw_ = UINT32_MAX;
};

class SlotIndexes {
 public:
  // The graph must live as long, or until an update has another one.
  SlotIndexes(const Function& function, const Cfg& cfg);

  // The Block slot of an instruction; invalid for what has no number.
  SlotIndex operator[](InstrId id) const { return id.value < index_.size() ? index_[id.value] : SlotIndex(); }
  SlotIndex start(BlockId b) const { return start_[b.value]; }
  SlotIndex end(BlockId b) const { return start_[b.value + 1]; }
  // Where what leaves the block still is.
  SlotIndex last(BlockId b) const { return end(b).previous(); }
  SlotIndex lastOfFunction() const { return start_.back(); }
  // The block that owns the place.
  BlockId blockAt(SlotIndex i) const;
  // The instruction with this number, whatever the slot; none when there is none.
  InstrId instructionAt(SlotIndex i) const;
  // The instructions of a block, which all have numbers.
  std::span<const InstrId> instructions(BlockId b) const { return cfg_->instructions(b); }
  // How many instructions and starts of blocks stand before an instruction or a start that has this number.
  std::size_t countBefore(SlotIndex i) const;

  // Brings the numbers up to date with the function as it is now, which has the same blocks. An instruction that stands in
  // the same block after the same instructions or some of them keeps its number. False: there was no room for a new one,
  // and all are numbered anew.
  bool update(const Function& function, const Cfg& cfg);

  // An error in words, or an empty string: whether the numbers are in order.
  std::string verify() const;

  friend bool operator==(const SlotIndexes& a, const SlotIndexes& b);

 private:
  static constexpr uint32_t kSpacing = 64, kLeastSpacing = 8;
  static constexpr uint64_t kMostAtFirst = uint64_t{1} << 31;

  void numberAll(std::size_t instructionIds);
  bool fill(std::span<const InstrId> fresh, SlotIndex after, SlotIndex before);
  std::size_t placeOf(SlotIndex i, BlockId b) const;

  // What got the number `place << shift_` when all were numbered.
  struct FirstPlace {
    BlockId block;        // that owns the place
    InstrId instruction;  // none: the start of the block
  };
  const Cfg* cfg_;
  std::vector<FirstPlace> firstPlaces_;
  unsigned shift_ = 0;
  std::vector<SlotIndex> index_;  // by InstrId
  std::vector<SlotIndex> start_;  // by block, and the end of the last
};

}  // namespace ptxopt
