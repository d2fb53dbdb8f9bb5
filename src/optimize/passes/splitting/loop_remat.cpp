// A loop is pressed where a point of it needs more units than the goal allows. A value is recomputed at each way out
// that needs it, if its only definition is cheap and reads, there too, the same values; none of these may be split
// itself.
#include "passes/splitting/loop_remat.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/splitting/cheap_definitions.h"

namespace ptxopt {
namespace {

// Whether `holds` is true of every register that `definition` reads.
bool readsAllSuch(const Function& f, InstrId definition, const auto& holds) {
  return std::ranges::all_of(f.operandsOf(f[definition]),
                             [&](const Operand& o) { return !o.isRegister() || !o.reads() || holds(o.reg()); });
}

}  // namespace

void LoopRemat::findGoal() {
  const RegisterPressure& pressure = context_.analyses.registerPressure();
  goal_ = findSplitGoal(f_, context_, static_cast<uint32_t>(context_.knobs[Knob::SplitRegisters]));
  if (!goal_->why.empty()) {
    context_.decline(goal_->why, "nothing is recomputed");
    goal_.reset();
    return;
  }
  const Loops& loops = context_.analyses.loops();
  const PressurePoints& points = pressure.points();
  const uint32_t most = goal_->mostUnits(goal_->registers.front());
  isPressed_.resize(loops.size());
  for (uint32_t l = 0; l < loops.size(); ++l)
    for (const BlockId b : loops.blocks(LoopId(l)))
      for (std::size_t p = points.firstOf(b); p < points.endOf(b) && !isPressed_[l]; ++p)
        isPressed_[l] = goal_->units[p] > most;
  isOperand_.resize(f_.registers.size());
  isSplit_.resize(f_.registers.size());
}

bool LoopRemat::recompute(LoopId l, RegId reg, const LoopCandidates& candidates) {
  if (!goal_ || !isPressed_[l.value] || isOperand(reg)) return false;
  const LiveRange& range = context_.analyses.liveIntervals()[reg];
  if (range.values().size() != 1 || range.values()[0].kind != ValueKind::Instruction) return false;
  const InstrId definition = context_.analyses.slotIndexes().instructionAt(range.values()[0].def);
  if (!isCheapDefinition(context_.module, f_, f_[definition]) ||
      !readsAllSuch(f_, definition, [&](RegId r) { return !isSplit_[r.value]; }) ||
      !holdsAfter(definition, reg, l, candidates))
    return false;
  for (const LoopWays::Out& o : candidates.ways(l).out)
    if (candidates.isNeeded(reg, o)) places_.push_back({definition, o.place});
  for (const Operand& o : f_.operandsOf(f_[definition]))
    if (o.isRegister() && o.reads()) isOperand_[o.payload] = true;
  markSplit(reg);
  return true;
}

// Whether the operands hold the same values and may be named at each way out where `reg` is needed.
bool LoopRemat::holdsAfter(InstrId definition, RegId reg, LoopId l, const LoopCandidates& candidates) const {
  Analyses& analyses = context_.analyses;
  return std::ranges::all_of(candidates.ways(l).out, [&](const LoopWays::Out& o) {
    return !candidates.isNeeded(reg, o) ||
           (readsSameAt(f_, analyses.liveIntervals(), analyses.slotIndexes(), definition, o.start) &&
            readsAllSuch(f_, definition, [&](RegId r) { return scopes_.reaches(occurrences_, r, o.place); }));
  });
}

void LoopRemat::insert(Function& f) const {
  for (const Place& p : places_) insertAgain(f, p.definition, p.place);
}

void LoopRemat::tellExpected() {
  context_.analyses.invalidate();
  const uint32_t after = context_.analyses.fatPointRegisters();
  context_.count("registers-expected-before", goal_->estimate.fatPoint);
  context_.count("registers-expected-after", after);
  context_.note("expected-registers", fmt::format("{} before, {} after (estimates), {} values recomputed",
                                                  goal_->estimate.fatPoint, after, places_.size()));
}

}  // namespace ptxopt
