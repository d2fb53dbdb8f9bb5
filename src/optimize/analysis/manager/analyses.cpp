// Each getter makes its analysis on the first request. Analyses::invalidate() goes down the table, keeps what is
// preserved and whose uses stay, and puts the shape aside; the next graph takes that over where its edges are the same.
#include "analysis/manager/analyses.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/values/uniform_registers.h"

namespace ptxopt {

using Direction = DominatorTree::Direction;
using Strength = Liveness::Strength;

namespace {

constexpr std::size_t kMostLiveIn = 16;  // registers at the starts of blocks, for each instruction

}  // namespace

void Analyses::note(AnalysisId id, std::string_view how) {
  if (!made_) return;
  ++made_->times[static_cast<std::size_t>(id)];
  if (how.empty()) return;
  std::string& all = made_->how[static_cast<std::size_t>(id)];
  all += fmt::format("{}{}", all.empty() ? "" : "; ", how);
}

template <typename Kept, typename Make>
auto& Analyses::get(AnalysisId id, std::optional<Kept>& kept, Make make) {
  asked_.insert(id);
  if (!kept) {
    const Timer timer(*this);
    make();
    note(id);
  }
  return *kept;
}

const Cfg& Analyses::cfg() {
  return get(AnalysisId::ControlFlow, keptControlFlow_, [&] {
    if (!before_) {
      keptControlFlow_.emplace(module_, function_);
      return;
    }
    bool hasSameEdges = false;
    keptControlFlow_.emplace(module_, function_, std::move(before_->cfg), hasSameEdges);
    takeOver(std::move(*before_), hasSameEdges);
    before_.reset();
  });
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
  if (before.liveness) keptPlainLiveness_.emplace(*std::move(before.liveness));
}

const RegisterFiles& Analyses::registerFiles() {
  return get(AnalysisId::Files, keptFiles_,
             [&] { keptFiles_ = findRegisterFiles(module_, function_, cfg(), dominators()); });
}

std::shared_ptr<const RegisterNumbers> Analyses::makeNumbers(const Cfg& cfg) const {
  return std::make_shared<const RegisterNumbers>(function_, cfg, RegisterFiles(function_));
}

const std::shared_ptr<const RegisterNumbers>& Analyses::sharedNumbers() {
  return get(AnalysisId::Numbers, keptNumbers_, [&] { keptNumbers_ = makeNumbers(cfg()); });
}

Liveness Analyses::makeLiveness(Strength strength, const Cfg& cfg,
                                std::shared_ptr<const RegisterNumbers> numbers) const {
  return {module_,
          function_,
          cfg,
          std::move(numbers),
          strength,
          limits_,
          strength == Strength::Needed && keptPlainLiveness_ ? &*keptPlainLiveness_ : nullptr};
}

const Liveness& Analyses::liveness(Strength strength) {
  const AnalysisId id = strength == Strength::Plain ? AnalysisId::PlainLiveness : AnalysisId::NeededLiveness;
  asked_.insert(id);
  const Cfg& graph = cfg();  // plain liveness of before may still hold
  std::optional<Liveness>& liveness = strength == Strength::Plain ? keptPlainLiveness_ : keptNeededLiveness_;
  if (liveness) return *liveness;
  const Timer timer(*this);
  liveness.emplace(makeLiveness(strength, graph,
                                strength == Strength::Needed
                                    ? sharedNumbers()
                                    : std::make_shared<const RegisterNumbers>(function_, graph, registerFiles())));
  if (made_) note(id, liveness->howSolved());
  return *liveness;
}

void Analyses::removedUnneeded() {
  if (!keptNeededLiveness_ || !keptNeededLiveness_->solved()) return;
  keptPlainLiveness_.emplace(*std::move(keptNeededLiveness_));
  keptNeededLiveness_.reset();
}

const DominatorTree& Analyses::dominators() {
  return get(AnalysisId::Dominators, keptDominators_,
             [&] { keptDominators_.emplace(cfg(), Direction::Dominators); });
}

const DominatorTree& Analyses::postDominators() {
  return get(AnalysisId::PostDominators, keptPostDominators_,
             [&] { keptPostDominators_.emplace(cfg(), Direction::PostDominators); });
}

const Loops& Analyses::loops() {
  return get(AnalysisId::LoopNest, keptLoopNest_, [&] { keptLoopNest_.emplace(cfg()); });
}

const SlotIndexes& Analyses::slotIndexes() {
  return get(AnalysisId::Slots, keptSlots_, [&] {
    if (!slotsBefore_) {
      intervalsBefore_.reset();
      keptSlots_.emplace(function_, cfg());
      return;
    }
    keptSlots_ = std::exchange(slotsBefore_, std::nullopt);
    if (!keptSlots_->update(function_, cfg())) intervalsBefore_.reset();
  });
}

const LiveIntervals& Analyses::liveIntervals() {
  asked_.insert(AnalysisId::Intervals);
  if (keptIntervals_) return *keptIntervals_;
  const Timer timer(*this);
  const Cfg& graph = cfg();
  const SlotIndexes& slots = slotIndexes();
  if (intervalsBefore_) {
    keptIntervals_.emplace(function_, graph, slots, dominators(), *std::move(intervalsBefore_));
    note(AnalysisId::Intervals, "brought up to date");
  } else {
    // Blocks by register take 32 times the bits: where many registers live through many blocks, each is searched for itself.
    const bool hasSets = keptPlainLiveness_ && keptPlainLiveness_->solver() == Liveness::Solver::Sets &&
                         keptPlainLiveness_->hasAtMost(kMostLiveIn * function_.instructions.size());
    keptIntervals_.emplace(function_, graph, slots, &dominators(), hasSets ? &*keptPlainLiveness_ : nullptr);
    note(AnalysisId::Intervals, hasSets ? "from the sets of liveness" : "by register");
  }
  intervalsBefore_.reset();
  return *keptIntervals_;
}

bool Analyses::mayHaveLiveIntervals() {
  constexpr std::size_t kSmall = 50000;  // instructions: of fewer, live ranges are never too much
  if (function_.instructions.size() < kSmall) return true;
  const AnalysisSet asked = asked_;  // for intervals, and by who asks for these
  const bool may = liveness(Strength::Plain).solved();
  asked_ = asked;
  return may;
}

ValueRanges& Analyses::valueRanges() {
  return get(AnalysisId::Ranges, keptRanges_,
             [&] { keptRanges_.emplace(module_, function_, cfg(), dominators(), slotIndexes(), liveIntervals()); });
}

ScalarEvolution& Analyses::scalarEvolution() {
  return get(AnalysisId::Evolution, keptEvolution_, [&] {
    keptEvolution_.emplace(module_, function_, cfg(), dominators(), loops(), slotIndexes(), liveIntervals(),
                           valueRanges());
  });
}

const CopyFacts& Analyses::copyFacts() {
  return get(AnalysisId::CopiesOf, keptCopiesOf_, [&] { keptCopiesOf_.emplace(module_, function_); });
}

const AddressSpaces& Analyses::addressSpaces(const ModuleAddressFacts& facts, bool memoryIsGlobal) {
  return get(AnalysisId::Spaces, keptSpaces_, [&] {
    keptSpaces_.emplace(module_, function_, cfg(), slotIndexes(), liveIntervals(), &facts, memoryIsGlobal);
  });
}

const AllocatedValues& Analyses::allocatedValues() {
  return get(AnalysisId::Allocated, keptAllocated_,
             [&] { keptAllocated_ = ptxopt::allocatedValues(module_, function_, registerPressure()); });
}

const RegisterPressure& Analyses::registerPressure() {
  return get(AnalysisId::Pressure, keptPressure_, [&] {
    keptPressure_.emplace(module_, function_, cfg(), slotIndexes(), liveIntervals(), registerFiles());
  });
}

uint32_t Analyses::plainRegisters() {
  return get(AnalysisId::PlainRegisters, keptPlainRegisters_, [&] {
    keptPlainRegisters_ = ptxopt::plainRegisters(module_, function_, registerPressure(), allocatedValues());
  });
}

uint32_t Analyses::fatPointRegisters() {
  return get(AnalysisId::FatPointRegisters, keptFatPointRegisters_, [&] {
    keptFatPointRegisters_ = ptxopt::fatPointRegisters(module_, function_, registerPressure(), allocatedValues());
  });
}

const RegisterEstimate& Analyses::registerEstimate() {
  return get(AnalysisId::Estimate, keptEstimate_,
             [&] { keptEstimate_ = estimateRegisters(module_, function_, registerPressure(), allocatedValues()); });
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
  // Nobody has asked for the graph since the last change: what was kept of that one must outlast this one, too. The rest of
  // the shape depends on edges alone, or is compared with the function when it is asked for.
  if (before_ && !preserved.has(PlainLiveness)) before_->liveness.reset();
  if (keptControlFlow_ && !preserved.has(ControlFlow))
    before_.emplace(Shape{*std::move(keptControlFlow_), std::move(keptDominators_), std::move(keptPostDominators_),
                          std::move(keptLoopNest_), std::move(keptSlots_), std::move(keptIntervals_),
                          preserved.has(PlainLiveness) ? std::move(keptPlainLiveness_) : std::nullopt});
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

// For one whose `uses` are not stale.
bool Analyses::isStale(AnalysisId id) const {
  const Cfg& cfg = *keptControlFlow_;
  switch (id) {
    case AnalysisId::ControlFlow: return cfg != Cfg(module_, function_);
    case AnalysisId::Dominators: return *keptDominators_ != DominatorTree(cfg, Direction::Dominators);
    case AnalysisId::PostDominators: return *keptPostDominators_ != DominatorTree(cfg, Direction::PostDominators);
    case AnalysisId::LoopNest: return *keptLoopNest_ != Loops(cfg);
    case AnalysisId::Files: return *keptFiles_ != findRegisterFiles(module_, function_, cfg, *keptDominators_);
    case AnalysisId::Numbers: return **keptNumbers_ != *makeNumbers(cfg);
    case AnalysisId::PlainLiveness:
      return *keptPlainLiveness_ != makeLiveness(Strength::Plain, cfg, makeNumbers(cfg));
    case AnalysisId::NeededLiveness:
      return *keptNeededLiveness_ != makeLiveness(Strength::Needed, cfg, *keptNumbers_);
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

std::string_view name(AnalysisId id) {
  constexpr std::string_view kNames[] = {
#define PTXOPT_ANALYSIS(id, type, name, uses) name,
#include "analysis/manager/analyses.def"
#undef PTXOPT_ANALYSIS
  };
  return kNames[static_cast<std::size_t>(id)];
}

std::string names(AnalysisSet set) {
  std::string out;
  for (std::size_t id = 0; id < kAnalyses; ++id)
    if (set.has(static_cast<AnalysisId>(id)))
      out += fmt::format("{}{}", out.empty() ? "" : ", ", name(static_cast<AnalysisId>(id)));
  return out.empty() ? "nothing" : out;
}

// From the last row up: what an analysis uses stands above it.
AnalysisSet withUses(AnalysisSet all) {
  using enum AnalysisId;
  constexpr auto set = [](auto... ids) { return AnalysisSet{ids...}; };
  constexpr AnalysisSet kUses[] = {
#define PTXOPT_ANALYSIS(id, type, name, uses) uses,
#include "analysis/manager/analyses.def"
#undef PTXOPT_ANALYSIS
  };
  for (std::size_t id = kAnalyses; id-- > 0;)
    if (all.has(static_cast<AnalysisId>(id))) all = all | kUses[id];
  return all;
}

std::string idsToAdd(AnalysisSet asked, AnalysisSet declared) {
  constexpr std::string_view kIds[] = {
#define PTXOPT_ANALYSIS(id, type, name, uses) #id,
#include "analysis/manager/analyses.def"
#undef PTXOPT_ANALYSIS
  };
  // From the last row up: what an analysis uses, and so comes with it, stands above it.
  std::string out;
  for (std::size_t k = kAnalyses; k-- > 0;) {
    const auto id = static_cast<AnalysisId>(k);
    if (!asked.has(id) || withUses(declared).has(id)) continue;
    declared.insert(id);
    out = fmt::format("{}{}{}", kIds[k], out.empty() ? "" : ", ", out);
  }
  return out;
}

std::string Analyses::made() const {
  std::string out;
  for (std::size_t id = 0; made_ && id < kAnalyses; ++id) {
    if (made_->times[id] == 0) continue;
    out += fmt::format("{}{}", out.empty() ? "" : ", ", name(static_cast<AnalysisId>(id)));
    if (made_->times[id] > 1) out += fmt::format(" {}", made_->times[id]);
    if (!made_->how[id].empty()) out += fmt::format(" ({})", made_->how[id]);
  }
  return out;
}

}  // namespace ptxopt
