// The table of units at each point is made at the first request, and the room up to the next step of the occupancy only
// when it is needed. A grant covers all points between the two places, and the loops that hold the end without the
// beginning.
#include "passes/util/range_register_budget.h"

#include <algorithm>

#include "passes/util/kernel_steps.h"

namespace ptxopt {
namespace {

// Registers. Plain: what the estimate is wrong by more often than not. FatPoint: up to 32 ptxas takes some that no
// estimate sees.
constexpr uint32_t kSparePlain = 3, kSpareFatPoint = 6;

}  // namespace

void RangeRegisterBudget::make() {
  Analyses& analyses = context_.analyses;
  const RegisterPressure& pressure = analyses.registerPressure();
  points_ = &pressure.points();
  taken_.assign(points_->size(), 0);
  if (estimate_ == Estimate::FatPoint) {
    addRoom();
    return;
  }
  std::ranges::transform(pressure.along(), taken_.begin(), &RegisterPressure::Units::data);
  limit_ = pressure.maximum().data;
}

void RangeRegisterBudget::addRoom() {
  hasRoom_ = true;
  const KernelSteps steps(f_, context_);
  if (!steps.areKnown()) return;
  Analyses& analyses = context_.analyses;
  const bool isPlain = estimate_ == Estimate::Plain;
  const uint32_t registers = isPlain ? analyses.plainRegisters() : analyses.fatPointRegisters();
  const uint32_t needed = registers + (isPlain ? kSparePlain : kSpareFatPoint), last = steps.last(registers);
  limit_ += last > needed ? last - needed : 0;
}

bool RangeRegisterBudget::grant(uint32_t units, SlotIndex from, SlotIndex to) {
  if (points_ == nullptr) make();
  const SlotIndexes& slots = context_.analyses.slotIndexes();
  const Loops& loops = context_.analyses.loops();
  // Every point between the two in the text, and all of the loops that hold the end but not the beginning. Where
  // the text does not follow control, what lies elsewhere is looked at in vain or, in a block after `to`, not at
  // all: an address that dominates its use from there is rare, and ends between blocks of the same loop.
  std::size_t first = points_->firstFrom(std::min(from, to)), last = points_->firstFrom(std::max(from, to));
  const BlockId begin = slots.blockAt(from);
  for (LoopId l = loops.of(slots.blockAt(to)); l.valid() && !loops.contains(l, begin); l = loops[l].parent)
    for (const BlockId b : loops.blocks(l)) {
      first = std::min(first, points_->firstOf(b));
      last = std::max(last, points_->endOf(b));
    }
  last = std::min(last, points_->size());
  uint32_t most = units;
  for (std::size_t p = first; p < last; ++p) most = std::max(most, taken_[p] + units);
  if (most > limit_ && !hasRoom_) addRoom();
  if (most > limit_) return false;
  for (std::size_t p = first; p < last; ++p) taken_[p] += units;
  return true;
}

}  // namespace ptxopt
