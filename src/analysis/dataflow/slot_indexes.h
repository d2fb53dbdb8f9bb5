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
// Between neighbours there is room. An instruction put in takes a number from the room; when there is none, those
// around it are spread out anew, as few as give room again, and the function tells which numbers moved, so that
// what was computed with the old ones can follow. Numbers are 32 bits: functions up to 2^28 blocks and instructions
// together, with less room between them from 2^25 on. Cost: linear to make; lookups are one of an array until
// numbers of others have to move, and binary searches from then on; insertion and removal move the ids after it in
// the block, 4 bytes each, and logarithmically many numbers on average.
#pragma once

#include <compare>
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
  constexpr bool sameInstruction(SlotIndex other) const { return (raw_ | 3) == (other.raw_ | 3); }
  // The slot directly before, which may be another instruction's.
  constexpr SlotIndex previous() const { return SlotIndex(raw_ - 1); }

  friend constexpr auto operator<=>(SlotIndex, SlotIndex) = default;

 private:
  uint32_t raw_ = UINT32_MAX;
};

class SlotIndexes {
 public:
  SlotIndexes(const Function& function, const Cfg& cfg);

  // The Block slot of an instruction; invalid for what has no number.
  SlotIndex operator[](InstrId id) const { return id.value < index_.size() ? index_[id.value] : SlotIndex(); }
  SlotIndex start(BlockId b) const { return start_[b.value]; }
  SlotIndex end(BlockId b) const { return start_[b.value + 1]; }
  SlotIndex lastOfFunction() const { return start_.back(); }
  // The block that owns the place.
  BlockId blockAt(SlotIndex i) const;
  // The instruction with this number, whatever the slot; none when there is none (any more).
  InstrId instructionAt(SlotIndex i) const;
  // The instructions of a block that have numbers, in order.
  std::span<const InstrId> instructions(BlockId b) const {
    return {instructions_.data() + rows_[b.value].first, rows_[b.value].size};
  }

  // A number that changed: what was in [from, from + 4) is in [to, to + 4).
  struct Move {
    SlotIndex from, to;
  };
  // Gives a number to an instruction that now stands in the list of block `b`. Returns the numbers of others that
  // had to move for it, ascending.
  std::vector<Move> inserted(const Function& function, InstrId id, BlockId b);
  // The instruction, which has a number, has left the list; its number is free.
  void removed(InstrId id, BlockId b);

  // The numbers of a function as it was, as numbers of the function as it is: it has the same blocks.
  class Translation {
   public:
    // `before`: no number of it has moved.
    Translation(const SlotIndexes& before, const SlotIndexes& now);
    // Of a block's start, the end, and of an instruction that there still is; invalid: there is none.
    SlotIndex operator()(SlotIndex i) const {
      const SlotIndex now = now_[i.raw() >> shift_];
      return now.valid() ? now.at(i.slot()) : now;
    }

   private:
    std::vector<SlotIndex> now_;
    unsigned shift_;
  };
  bool anyMoved() const { return firstPlaces_.empty(); }

  // An error in words, or an empty string: whether the numbers are in order.
  std::string verify() const;

  friend bool operator==(const SlotIndexes& a, const SlotIndexes& b);

 private:
  static constexpr uint32_t kSpacing = 64, kLeastSpacing = 8;
  static constexpr uint32_t kLeastRoom = 4;  // beyond what a block has
  static constexpr uint64_t kMostAtFirst = uint64_t{1} << 31;
  static constexpr uint64_t kLast = UINT32_MAX - 7;

  // Where the instructions of a block stand in the array of all.
  struct Row {
    uint32_t first = 0, size = 0, room = 0;
  };
  std::size_t placeOf(SlotIndex i, BlockId b) const;
  uint32_t numberBefore(BlockId b, std::size_t place) const;
  uint32_t numberAt(BlockId b, std::size_t place) const;
  std::vector<Move> spread(BlockId b, std::size_t place);

  // What got the number `place << shift_` when all were numbered; empty when a number has moved.
  struct FirstPlace {
    BlockId block;        // that owns the place
    InstrId instruction;  // none: the start of the block
  };
  std::vector<FirstPlace> firstPlaces_;
  unsigned shift_ = 0;
  std::vector<SlotIndex> index_;  // by InstrId
  std::vector<SlotIndex> start_;  // by block, and the end of the last
  std::vector<Row> rows_;         // by block
  std::vector<InstrId> instructions_;
};

}  // namespace ptxopt
