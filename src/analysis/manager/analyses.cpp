#include "analysis/manager/analyses.h"

#include <algorithm>
#include <utility>

#include "analysis/values/uniform_registers.h"

namespace ptxopt {

using Direction = DominatorTree::Direction;
using Strength = Liveness::Strength;

const Cfg& Analyses::cfg() {
  if (keptControlFlow_) return *keptControlFlow_;
  if (!before_) return keptControlFlow_.emplace(module_, function_);
  bool hasSameEdges = false;
  keptControlFlow_.emplace(module_, function_, std::move(before_->cfg), hasSameEdges);
  takeOver(std::move(*before_), hasSameEdges);
  before_.reset();
  return *keptControlFlow_;
}

// Most passes change instructions, not edges.
void Analyses::takeOver(Shape&& before, bool hasSameEdges) {
  if (!hasSameEdges) {
    slotsBefore_.reset();
    intervalsBefore_.reset();
    return;
  }
  if (before.slots) slotsBefore_ = std::move(before.slots);
  if (before.intervals) intervalsBefore_.emplace(*std::move(before.intervals));
  if (before.dominators) keptDominators_.emplace(*std::move(before.dominators));
  if (before.postDominators) keptPostDominators_.emplace(*std::move(before.postDominators));
  if (before.loops) keptLoopNest_.emplace(*std::move(before.loops));
}

const RegisterFiles& Analyses::registerFiles() {
  if (!keptFiles_) keptFiles_ = findRegisterFiles(module_, function_, cfg(), dominators());
  return *keptFiles_;
}

Liveness Analyses::makeLiveness(Strength strength, const Cfg& cfg, const RegisterFiles& files) const {
  return {module_, function_, cfg, files, strength, limits_, keptPlainLiveness_ ? &*keptPlainLiveness_ : nullptr};
}

const Liveness& Analyses::liveness(Strength strength) {
  std::optional<Liveness>& liveness = strength == Strength::Plain ? keptPlainLiveness_ : keptNeededLiveness_;
  if (!liveness) liveness.emplace(makeLiveness(strength, cfg(), registerFiles()));
  return *liveness;
}

const DominatorTree& Analyses::dominators() {
  return keptDominators_ ? *keptDominators_ : keptDominators_.emplace(cfg(), Direction::Dominators);
}

const DominatorTree& Analyses::postDominators() {
  return keptPostDominators_ ? *keptPostDominators_ : keptPostDominators_.emplace(cfg(), Direction::PostDominators);
}

const Loops& Analyses::loops() { return keptLoopNest_ ? *keptLoopNest_ : keptLoopNest_.emplace(cfg()); }

const SlotIndexes& Analyses::slotIndexes() {
  if (keptSlots_) return *keptSlots_;
  const Cfg& graph = cfg();
  if (!slotsBefore_) {
    intervalsBefore_.reset();
    return keptSlots_.emplace(function_, graph);
  }
  keptSlots_ = std::exchange(slotsBefore_, std::nullopt);
  if (!keptSlots_->update(function_, graph)) intervalsBefore_.reset();
  return *keptSlots_;
}

const LiveIntervals& Analyses::liveIntervals() {
  if (keptIntervals_) return *keptIntervals_;
  const SlotIndexes& slots = slotIndexes();
  if (intervalsBefore_)
    keptIntervals_.emplace(function_, cfg(), slots, dominators(), *std::move(intervalsBefore_));
  else
    keptIntervals_.emplace(function_, cfg(), slots, &dominators());
  intervalsBefore_.reset();
  return *keptIntervals_;
}

bool Analyses::mayHaveLiveIntervals() {
  constexpr std::size_t kSmall = 50000;  // instructions: of fewer, live ranges are never too much
  return function_.instructions.size() < kSmall || liveness(Strength::Plain).solved();
}

ValueRanges& Analyses::valueRanges() {
  if (!keptRanges_) keptRanges_.emplace(module_, function_, cfg(), dominators(), slotIndexes(), liveIntervals());
  return *keptRanges_;
}

ScalarEvolution& Analyses::scalarEvolution() {
  if (!keptEvolution_)
    keptEvolution_.emplace(module_, function_, cfg(), dominators(), loops(), slotIndexes(), liveIntervals(),
                           valueRanges());
  return *keptEvolution_;
}

const CopyFacts& Analyses::copyFacts() {
  return keptCopiesOf_ ? *keptCopiesOf_ : keptCopiesOf_.emplace(module_, function_);
}

const AddressSpaces& Analyses::addressSpaces(const ModuleAddressFacts& facts, bool memoryIsGlobal) {
  if (!keptSpaces_)
    keptSpaces_.emplace(module_, function_, cfg(), slotIndexes(), liveIntervals(), &facts, memoryIsGlobal);
  return *keptSpaces_;
}

const AllocatedValues& Analyses::allocatedValues() {
  if (!keptAllocated_) keptAllocated_ = ptxopt::allocatedValues(module_, function_, registerPressure());
  return *keptAllocated_;
}

const RegisterPressure& Analyses::registerPressure() {
  if (!keptPressure_)
    keptPressure_.emplace(module_, function_, cfg(), slotIndexes(), liveIntervals(), registerFiles());
  return *keptPressure_;
}

uint32_t Analyses::plainRegisters() {
  if (!keptPlainRegisters_)
    keptPlainRegisters_ = ptxopt::plainRegisters(module_, function_, registerPressure(), allocatedValues());
  return *keptPlainRegisters_;
}

uint32_t Analyses::fatPointRegisters() {
  if (!keptFatPointRegisters_)
    keptFatPointRegisters_ = ptxopt::fatPointRegisters(module_, function_, registerPressure(), allocatedValues());
  return *keptFatPointRegisters_;
}

const RegisterEstimate& Analyses::registerEstimate() {
  if (!keptEstimate_) keptEstimate_ = estimateRegisters(module_, function_, registerPressure(), allocatedValues());
  return *keptEstimate_;
}

void Analyses::makeAll() {
  if (!cfg().complete()) return;
  liveness(Strength::Plain);
  liveness(Strength::Needed);
  dominators();
  postDominators();
  loops();
  liveIntervals();
}

// The table has what an analysis uses above it: that is gone, or known to stay, when its users are looked at.
void Analyses::invalidate(AnalysisSet preserved) {
  using enum AnalysisId;
  constexpr auto set = [](auto... ids) { return AnalysisSet{ids...}; };
  if (keptControlFlow_ && !preserved.has(ControlFlow))
    before_.emplace(Shape{*std::move(keptControlFlow_), std::move(keptDominators_), std::move(keptPostDominators_),
                          std::move(keptLoopNest_), std::move(keptSlots_), std::move(keptIntervals_)});
  AnalysisSet stays;
#define PTXOPT_ANALYSIS(id, type, name, uses)      \
  if (preserved.has(id) && stays.includes(uses)) { \
    stays.insert(id);                              \
  } else {                                         \
    kept##id##_.reset();                           \
  }
#include "analysis/manager/analyses.def"
#undef PTXOPT_ANALYSIS
}

// Of one whose `uses` are not stale.
bool Analyses::isStale(AnalysisId id) const {
  const Cfg& cfg = *keptControlFlow_;
  switch (id) {
    case AnalysisId::ControlFlow: return cfg != Cfg(module_, function_);
    case AnalysisId::Dominators: return *keptDominators_ != DominatorTree(cfg, Direction::Dominators);
    case AnalysisId::PostDominators: return *keptPostDominators_ != DominatorTree(cfg, Direction::PostDominators);
    case AnalysisId::LoopNest: return *keptLoopNest_ != Loops(cfg);
    case AnalysisId::Files: return *keptFiles_ != findRegisterFiles(module_, function_, cfg, *keptDominators_);
    case AnalysisId::PlainLiveness: return *keptPlainLiveness_ != makeLiveness(Strength::Plain, cfg, *keptFiles_);
    case AnalysisId::NeededLiveness:
      return *keptNeededLiveness_ != makeLiveness(Strength::Needed, cfg, *keptFiles_);
    case AnalysisId::Slots: return *keptSlots_ != SlotIndexes(function_, cfg) || !keptSlots_->verify().empty();
    case AnalysisId::Intervals:
      return *keptIntervals_ != LiveIntervals(function_, cfg, *keptSlots_, &*keptDominators_) ||
             !keptIntervals_->verify().empty();
    case AnalysisId::Ranges: return !keptRanges_->answersHold();
    case AnalysisId::Evolution: return !keptEvolution_->answersHold();
    case AnalysisId::CopiesOf: return *keptCopiesOf_ != CopyFacts(module_, function_);
    case AnalysisId::Spaces: return keptSpaces_->differs();
    case AnalysisId::Pressure: {
      const RegisterPressure anew(module_, function_, cfg, *keptSlots_, *keptIntervals_, *keptFiles_);
      return !std::ranges::equal(keptPressure_->along(), anew.along());
    }
    case AnalysisId::Allocated:
      return *keptAllocated_ != ptxopt::allocatedValues(module_, function_, *keptPressure_);
    case AnalysisId::PlainRegisters:
      return *keptPlainRegisters_ != ptxopt::plainRegisters(module_, function_, *keptPressure_, *keptAllocated_);
    case AnalysisId::FatPointRegisters:
      return *keptFatPointRegisters_ !=
             ptxopt::fatPointRegisters(module_, function_, *keptPressure_, *keptAllocated_);
    case AnalysisId::Estimate:
      return *keptEstimate_ != estimateRegisters(module_, function_, *keptPressure_, *keptAllocated_);
  }
  return false;
}

std::string_view Analyses::stale() const {
#define PTXOPT_ANALYSIS(id, type, name, uses) \
  if (kept##id##_ && isStale(AnalysisId::id)) return name;
#include "analysis/manager/analyses.def"
#undef PTXOPT_ANALYSIS
  return {};
}

}  // namespace ptxopt
