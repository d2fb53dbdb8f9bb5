// How many 32-bit registers the live values of a function fill, at every point and in each register file.
//
// A point is the start of a block or the place after an instruction; there, its results count, those that nobody
// reads included, and its sources only if they are read again. Where nothing is live that is all that could be:
// what is live before an instruction is live at the point before it.
//
// Units. Data and uniform registers: one for each 32 bits or part of them; a vector register as many as its lanes
// take together, so `.v4 .b16` is two. Single registers of 16 and 8 bits take one each, as ptxas does it, but for
// packed halves: those of 16 bits that some instruction names inside `{a, b}` with elements of 16 bits, because
// they are the halves of a 32-bit register before or after; of these two fit in one unit, any two. Predicates and
// the carry flag: one each. These are counts of the PTX as it stands; ptxas allocates after it changed much of it
// (see register_estimate.h), so what is printed is called an estimate.
//
// Cost: linear in blocks, instructions and segments of live ranges; 20 bytes a point while computing, beyond the
// 24 bytes a point and 8 a register that stay.
#pragma once

#include <span>
#include <vector>

#include "analysis/dataflow/live_intervals.h"
#include "analysis/dataflow/loops.h"
#include "analysis/machine/register_files.h"

namespace ptxopt {

// The size of registers in a file.
struct RegisterSize {
  uint32_t units = 0;
  bool isHalf = false;  // half a unit, then `units` is 0
  friend bool operator==(const RegisterSize&, const RegisterSize&) = default;
};

// The sizes of all registers of a function, by RegId.
std::vector<RegisterSize> registerSizes(const Module& module, const Function& function);

// Finds the point of a slot without a search through all of them. Points are numbered in the order of the text:
// each block has one for its start, then one for each of its instructions.
class PressurePoints {
 public:
  PressurePoints(const Cfg& cfg, const SlotIndexes& slots);

  struct Point {
    SlotIndex slot;  // the start of a block, or an instruction's Register slot
    BlockId block;
    InstrId instruction;  // none: the block's start
  };
  std::size_t size() const { return points_.size(); }
  const Point& operator[](std::size_t i) const { return points_[i]; }
  // The first point at or after a slot; size() when there is none.
  std::size_t firstFrom(SlotIndex slot) const;
  // The points of a block are [firstOf, endOf).
  std::size_t firstOf(BlockId b) const { return firstOf_[b.value]; }
  std::size_t endOf(BlockId b) const { return firstOf_[b.value + 1]; }
  std::size_t blocks() const { return firstOf_.size() - 1; }

 private:
  static constexpr unsigned kShift = 6;
  std::vector<Point> points_;
  std::vector<uint32_t> firstOf_;  // by block, and the end of the last
  std::vector<uint32_t> table_;    // by slot >> kShift: the first point there or after
};

class RegisterPressure {
 public:
  struct Units {
    uint32_t data = 0, predicate = 0, uniform = 0;
    uint32_t operator[](RegisterFile file) const {
      return file == RegisterFile::Data ? data : file == RegisterFile::Predicate ? predicate : uniform;
    }
    Units max(const Units& other) const {
      return {std::max(data, other.data), std::max(predicate, other.predicate), std::max(uniform, other.uniform)};
    }
    friend bool operator==(const Units&, const Units&) = default;
  };
  // A value that is live from point `first` to point `last`, both included.
  struct Span {
    RegId reg;
    ValueId value;
    uint32_t first = 0, last = 0;
    friend bool operator==(const Span&, const Span&) = default;
  };

  RegisterPressure(const Module& module, const Function& function, const Cfg& cfg, const SlotIndexes& slots,
                   const LiveIntervals& intervals, const RegisterFiles& files);

  const PressurePoints& points() const { return points_; }
  const Units& at(std::size_t point) const { return units_[point]; }
  std::span<const Units> along() const { return units_; }

  // The most at any point; each file may have it at another.
  Units maximum() const { return maximum_; }
  Units maximumOf(BlockId b) const;
  Units maximumOf(const Loops& loops, LoopId l) const;
  // The first point where a file has its maximum; 0 for a function without points.
  std::size_t place(RegisterFile file) const { return place_[static_cast<std::size_t>(file)]; }
  // Registers of a file that are live at a point, in the order of their ids. Cost: all registers.
  std::vector<RegId> liveAt(std::size_t point, RegisterFile file) const;
  // Where each value lives, by register, in the order of the points. For drawing: all that is live at a point are
  // the spans that contain it.
  std::vector<Span> spans() const;

  RegisterSize sizeOf(RegId r) const { return sizes_[r.value]; }
  RegisterFile fileOf(RegId r) const { return files_.of(r); }

 private:
  const Function& f_;
  const LiveIntervals& intervals_;
  RegisterFiles files_;
  std::vector<RegisterSize> sizes_;
  PressurePoints points_;
  std::vector<Units> units_;  // by point
  Units maximum_;
  std::array<std::size_t, kRegisterFiles.size()> place_{};
};

}  // namespace ptxopt
