#include "passes/lsr/range_room.h"

#include <algorithm>

#include "passes/split_goal.h"

namespace ptxopt {
namespace {

constexpr uint32_t kSpare = 3;  // registers: what the estimate is wrong by more often than not

// How many more registers the kernel may get without losing a resident block.
uint32_t room(const PassContext& context, const Function& f, const RegisterPressure& pressure) {
  const Module& module = context.module;
  const Architecture* const machine = architecture(context.architecture());
  if (!f.isEntry || machine == nullptr) return 0;
  const KernelNeeds needs = kernelNeeds(module, f);
  const uint32_t registers = plainRegisters(module, f, pressure);
  const auto cliff = nextCliff(
      *machine, {registers, needs.threads.value_or(SplitGoal::kUsualThreads), needs.sharedBytes, needs.barriers});
  const uint32_t end = cliff.value_or(Architecture::kMostRegistersPerThread);
  return end > registers + kSpare ? end - registers - 1 - kSpare : 0;
}

}  // namespace

bool RangeRoom::grant(uint32_t units, SlotIndex from, SlotIndex to) {
  if (!pressure_) {
    pressure_.emplace(makePressure(context_.module, f_, context_.analyses));
    limit_ = pressure_->maximum().data + room(context_, f_, *pressure_);
    added_.assign(pressure_->points().size(), 0);
  }
  const PressurePoints& points = pressure_->points();
  const SlotIndexes& slots = context_.analyses.slotIndexes();
  const Loops& loops = context_.analyses.loops();
  // Every point between the two in the text, and all of the loops that hold the end but not the beginning. Where
  // the text does not follow control, what lies elsewhere is looked at in vain or, in a block behind `to`, not at
  // all: an address that dominates its use from there is rare, and ends between blocks of the same loop.
  std::size_t first = points.firstFrom(std::min(from, to)), last = points.firstFrom(std::max(from, to));
  const BlockId begin = slots.blockAt(from);
  for (LoopId l = loops.of(slots.blockAt(to)); l.valid() && !loops.contains(l, begin); l = loops[l].parent)
    for (const BlockId b : loops.blocks(l)) {
      first = std::min(first, points.firstOf(b));
      last = std::max(last, points.endOf(b));
    }
  last = std::min(last, points.size());
  for (std::size_t p = first; p < last; ++p)
    if (pressure_->at(p).data + added_[p] + units > limit_) return false;
  for (std::size_t p = first; p < last; ++p) added_[p] += units;
  return true;
}

}  // namespace ptxopt
