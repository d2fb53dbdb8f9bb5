// Where a register holds which value.
//
// A live range is a sorted list of segments [start, end) that do not overlap; each carries the number of the value
// that the register holds there. A value begins at one place: where an instruction writes the register, at the
// start of a block where different values meet (a phi), or at the function's entry (a parameter's value, or no
// value at all: a register that is read before it was written holds its entry value, which is undefined but legal).
// A partial definition (role Mod) ends one value at its Register slot and begins the next there, marked as partial:
// what it does not write comes from the old one.
// Segments with the same value that touch are one segment. Most ranges have one value and one segment, and these need
// no allocation; what others need comes from the memory resource given.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>

#include "analysis/dataflow/slot_indexes.h"
#include "support/small_vector.h"

namespace ptxopt {

using ValueId = Id<struct ValueTag>;

enum class ValueKind : uint8_t { Instruction, Phi, Entry };

struct LiveValue {
  SlotIndex def;  // Register slot of the instruction; Block slot of the block for phis and entry values
  ValueKind kind = ValueKind::Instruction;
  bool isPartial = false;
  friend bool operator==(const LiveValue&, const LiveValue&) = default;
};

struct Segment {
  SlotIndex start, end;
  ValueId value;
  bool contains(SlotIndex i) const { return start <= i && i < end; }
  friend bool operator==(const Segment&, const Segment&) = default;
};

class LiveRange {
 public:
  explicit LiveRange(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : segments_(memory), values_(memory) {}

  bool empty() const { return segments_.empty(); }
  std::span<const Segment> segments() const { return segments_; }
  std::span<const LiveValue> values() const { return values_; }
  const LiveValue& operator[](ValueId v) const { return values_[v.value]; }
  SlotIndex start() const { return segments_.front().start; }
  SlotIndex end() const { return segments_.back().end; }

  // ---- queries ----
  // The segment that contains `i`, or nullptr. Cost: logarithmic, as for all queries below.
  const Segment* find(SlotIndex i) const {
    if (segments_.size() != 1) return search(i);
    return segments_.front().contains(i) ? segments_.data() : nullptr;
  }
  bool isLiveAt(SlotIndex i) const { return find(i) != nullptr; }
  // The value at `i`; none where the register is not live.
  ValueId valueAt(SlotIndex i) const {
    const Segment* s = find(i);
    return s == nullptr ? ValueId() : s->value;
  }
  // The value that is read by the instruction at `i`, and the one that begins there.
  ValueId valueIn(SlotIndex i) const { return valueAt(i.base()); }
  ValueId valueOut(SlotIndex i) const {
    const Segment* s = find(i.reg());
    return s != nullptr && values_[s->value.value].def == i.reg() ? s->value : ValueId();
  }

  // ---- changes ----
  void reserve(std::size_t segments, std::size_t values) {
    segments_.reserve(segments);
    values_.reserve(values);
  }
  // For an empty range: the value that the instruction at `i` writes, which nothing reads yet.
  void begin(SlotIndex i) {
    values_.push_back({i.reg()});
    segments_.push_back({i.reg(), i.dead(), ValueId(0u)});
  }
  // Moves the end of the last segment.
  void extendTo(SlotIndex end) { segments_.back().end = end; }
  ValueId addValue(const LiveValue& v) {
    values_.push_back(v);
    return ValueId(values_.size() - 1);
  }
  // Appends after everything there is.
  void append(const Segment& s) {
    if (!segments_.empty() && segments_.back().end == s.start && segments_.back().value == s.value)
      segments_.back().end = s.end;
    else
      segments_.push_back(s);
  }
  // Numbers the values in the order of their definitions.
  void renumberValues();
  void clear() {
    segments_.clear();
    values_.clear();
  }

  // An error in words, or an empty string.
  std::string verify() const;
  // "[16r,40r:0) [64B,80r:1) 0@16r 1@64B-phi"
  std::string toString() const;

  friend bool operator==(const LiveRange& a, const LiveRange& b) {
    return a.segments_ == b.segments_ && a.values_ == b.values_;
  }

 private:
  const Segment* search(SlotIndex i) const;

  SmallVector<Segment> segments_;
  SmallVector<LiveValue> values_;
};

// "16r": the number of an instruction, or of a block's start, and the slot: B e r d.
std::string toString(SlotIndex i);

}  // namespace ptxopt
