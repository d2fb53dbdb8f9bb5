// The walk goes from the copy to the last read of the old value, over a bounded number of instructions. Reads below the
// overwrite move above it if they are few, pure, and commute with all that they pass.
#include "passes/coalescing/reschedule.h"

#include <algorithm>

#include "passes/util/insertion_places.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostSteps = 64, kMostMoves = 4;

bool mentions(const Function& f, InstrId id, RegId reg, bool onlyWrites) {
  const auto operands = f.operandsOf(f[id]);
  return std::any_of(operands.begin(), operands.end(), [&](const Operand& o) {
    return o.isRegister() && o.reg() == reg && (!onlyWrites || o.writes());
  });
}

// Whether `id` may stand before `other`, which comes before it.
bool commutes(const Function& f, InstrId id, InstrId other) {
  for (const Operand& o : f.operandsOf(f[id]))
    if (o.isRegister() && mentions(f, other, o.reg(), !o.writes())) return false;
  return true;
}

bool isPure(const Module& module, const Function& f, InstrId id) {
  const Instruction& i = f[id];
  return module.form(i).row != nullptr && module.form(i).effects == effect::Pure && isRemovable(module, f, i);
}

// Whether names mean the same before `first` as they do at `last`, which comes after it in its block, and no pragma stands
// between the two.
bool isOneScope(const Function& f, InstrId first, InstrId last) {
  for (InstrId id = last; id != first; id = f[id].previous)
    if (!f[id].isInstruction() && f[id].kind != InstrKind::Loc) return false;
  return true;
}

// Moves the reads of `kept` after the copy above the first instruction that overwrites `other`.
bool moveReads(const Module& module, Function& f, const SlotIndexes& slots, BlockId block,
               const LiveIntervals& intervals, InstrId copy, RegId kept, RegId other) {
  const Segment* alive = intervals[kept].find(slots[copy].reg());
  if (alive == nullptr || alive->end >= slots.end(block)) return false;

  // The instructions after the copy up to the last read.
  std::vector<InstrId> between;
  const std::span<const InstrId> all = slots.instructions(block);
  auto at = std::find(all.begin(), all.end(), copy);
  while (++at != all.end() && slots[*at] < alive->end) {
    between.push_back(*at);
    if (between.size() > kMostSteps) return false;
  }
  const auto overwrites =
      std::find_if(between.begin(), between.end(), [&](InstrId id) { return mentions(f, id, other, true); });
  if (overwrites == between.end()) return false;
  std::vector<InstrId> moves;
  for (auto use = overwrites + 1; use != between.end(); ++use) {
    if (!mentions(f, *use, kept, false)) continue;
    if (moves.size() == kMostMoves || mentions(f, *use, kept, true) || !isPure(module, f, *use) ||
        !isOneScope(f, *overwrites, *use))
      return false;
    for (auto k = overwrites; k != use; ++k)
      if (std::find(moves.begin(), moves.end(), *k) == moves.end() && !commutes(f, *use, *k)) return false;
    moves.push_back(*use);
  }
  if (moves.empty() || mentions(f, *overwrites, kept, false)) return false;
  const InstrId place = placeBefore(module, f, *overwrites);
  for (const InstrId id : moves) f.moveBefore(id, place);
  return true;
}

}  // namespace

bool rescheduleReads(const Module& module, Function& f, const SlotIndexes& slots, const Cfg& cfg,
                     const LiveIntervals& intervals, const Copy& copy) {
  if (copy.isGuarded) return false;
  const BlockId block = cfg.blockOf(copy.instruction);
  return moveReads(module, f, slots, block, intervals, copy.instruction, copy.from, copy.to) ||
         moveReads(module, f, slots, block, intervals, copy.instruction, copy.to, copy.from);
}

}  // namespace ptxopt
