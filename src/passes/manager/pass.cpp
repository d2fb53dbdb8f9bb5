#include "passes/manager/pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "analysis/machine/register_estimate.h"
#include "analysis/values/uniform_registers.h"

namespace ptxopt {
namespace {

constexpr KnobInfo kKnobs[] = {
#define PTXOPT_KNOB(name, defaultValue, least, most, summary) {name, defaultValue, least, most, summary, {}},
#define PTXOPT_NAMED_KNOB(name, defaultValue, most, values, summary) {name, defaultValue, 0, most, summary, values},
#include "passes/manager/knobs.def"
#undef PTXOPT_NAMED_KNOB
#undef PTXOPT_KNOB
};

constexpr PassInfo kPasses[] = {
#define PTXOPT_PASS(name, function, preserves, again, summary) {name, function, preserves, again, summary},
#include "passes/manager/passes.def"
#undef PTXOPT_PASS
};

}  // namespace

std::span<const KnobInfo> knobTable() { return kKnobs; }

std::string_view knobValueName(const KnobInfo& knob, int64_t value) {
  std::string_view names = knob.values;
  for (; value > 0; --value) names.remove_prefix(names.find('|') + 1);
  return names.substr(0, names.find('|'));
}

Knobs::Knobs() {
  for (const KnobInfo& knob : kKnobs) values_.push_back(knob.defaultValue);
}

int64_t Knobs::operator[](std::string_view name) const {
  for (std::size_t i = 0; i < std::size(kKnobs); ++i)
    if (kKnobs[i].name == name) return values_[i];
  std::abort();  // a pass asks for a knob that is not in the table
}

std::string Knobs::set(std::string_view name, int64_t value) {
  for (std::size_t i = 0; i < std::size(kKnobs); ++i) {
    if (kKnobs[i].name != name) continue;
    if (value < kKnobs[i].least || value > kKnobs[i].most)
      return fmt::format("{} is {} to {}, not {}", name, kKnobs[i].least, kKnobs[i].most, value);
    values_[i] = value;
    return {};
  }
  return fmt::format("there is no knob '{}'", name);
}

std::span<const PassInfo> passTable() { return kPasses; }

const PassInfo* findPass(std::string_view name) {
  const auto it =
      std::find_if(std::begin(kPasses), std::end(kPasses), [&](const PassInfo& p) { return p.name == name; });
  return it == std::end(kPasses) ? nullptr : it;
}

const Cfg& Analyses::cfg() {
  if (!cfg_) cfg_.emplace(module_, function_);
  return *cfg_;
}

const RegisterFiles& Analyses::registerFiles() {
  if (!files_) files_ = findRegisterFiles(module_, function_, cfg(), dominators());
  return *files_;
}

Liveness Analyses::makeLiveness(Liveness::Strength strength, const Cfg& cfg, const RegisterFiles& files) const {
  return {module_,
          function_,
          cfg,
          files,
          strength,
          {.mostBytes = static_cast<std::size_t>(knobs_["liveness-memory-mb"]) << 20,
           .walkOnly = knobs_["fast-compile"] != 0},
          plain_ ? &*plain_ : nullptr};
}

const Liveness& Analyses::liveness(Liveness::Strength strength) {
  std::optional<Liveness>& liveness = strength == Liveness::Strength::Plain ? plain_ : needed_;
  if (!liveness) liveness.emplace(makeLiveness(strength, cfg(), registerFiles()));
  return *liveness;
}

const DominatorTree& Analyses::dominators() {
  if (!dominators_) dominators_.emplace(cfg(), DominatorTree::Direction::Dominators);
  return *dominators_;
}

const DominatorTree& Analyses::postDominators() {
  if (!postDominators_) postDominators_.emplace(cfg(), DominatorTree::Direction::PostDominators);
  return *postDominators_;
}

const Loops& Analyses::loops() {
  if (!loops_) loops_.emplace(cfg());
  return *loops_;
}

const SlotIndexes& Analyses::slotIndexes() {
  if (!slots_) slots_.emplace(function_, cfg());
  return *slots_;
}

const LiveIntervals& Analyses::liveIntervals() {
  if (!intervals_) intervals_.emplace(function_, cfg(), slotIndexes(), &dominators());
  return *intervals_;
}

bool PassContext::hasUsableIntervals() {
  if (!analyses.cfg().complete()) {
    decline("too-large", "the control-flow graph has too many edges");
    return false;
  }
  if (analyses.mayHaveLiveIntervals()) return true;
  decline("too-large", "live ranges need more than liveness may take");
  return false;
}

bool Analyses::mayHaveLiveIntervals() {
  constexpr std::size_t kSmall = 50000;  // instructions: of fewer, live ranges are never too much
  return function_.instructions.size() < kSmall || liveness(Liveness::Strength::Plain).solved();
}

ValueRanges& Analyses::valueRanges() {
  if (!ranges_) ranges_.emplace(module_, function_, cfg(), dominators(), slotIndexes(), liveIntervals());
  return *ranges_;
}

ScalarEvolution& Analyses::scalarEvolution() {
  if (!evolution_)
    evolution_.emplace(module_, function_, cfg(), dominators(), loops(), slotIndexes(), liveIntervals(),
                       valueRanges());
  return *evolution_;
}

const RegisterPressure& Analyses::registerPressure() {
  if (!pressure_) pressure_.emplace(module_, function_, cfg(), slotIndexes(), liveIntervals(), registerFiles());
  return *pressure_;
}

uint32_t Analyses::plainRegisters() {
  if (!plainRegisters_) plainRegisters_ = ptxopt::plainRegisters(module_, function_, registerPressure());
  return *plainRegisters_;
}

uint32_t Analyses::fatPointRegisters() {
  if (!fatPointRegisters_) fatPointRegisters_ = ptxopt::fatPointRegisters(module_, function_, registerPressure());
  return *fatPointRegisters_;
}

void Analyses::makeAll() {
  if (!cfg().complete()) return;
  liveness(Liveness::Strength::Plain);
  liveness(Liveness::Strength::Needed);
  dominators();
  postDominators();
  loops();
  liveIntervals();
}

// What refers to another analysis goes before it, and whenever it goes: liveness and the intervals to the graph,
// the intervals also to the dominators, value ranges and pressure to all of these.
void Analyses::invalidate(Preserves preserved) {
  plainRegisters_.reset();
  fatPointRegisters_.reset();
  pressure_.reset();
  evolution_.reset();
  ranges_.reset();
  intervals_.reset();
  plain_.reset();
  needed_.reset();
  files_.reset();
  slots_.reset();
  if (preserved == Preserves::ControlFlow) return;
  loops_.reset();
  dominators_.reset();
  postDominators_.reset();
  cfg_.reset();
}

std::string_view Analyses::stale() {
  using Direction = DominatorTree::Direction;
  if (cfg_ && *cfg_ != Cfg(module_, function_)) return "control-flow graph";
  if (dominators_ && *dominators_ != DominatorTree(*cfg_, Direction::Dominators)) return "dominators";
  if (postDominators_ && *postDominators_ != DominatorTree(*cfg_, Direction::PostDominators))
    return "post-dominators";
  if (files_ && *files_ != findRegisterFiles(module_, function_, *cfg_, *dominators_)) return "register files";
  if (plain_ && *plain_ != makeLiveness(Liveness::Strength::Plain, *cfg_, *files_)) return "liveness";
  if (needed_ && *needed_ != makeLiveness(Liveness::Strength::Needed, *cfg_, *files_)) return "needed liveness";
  if (loops_ && *loops_ != Loops(*cfg_)) return "loops";
  if (slots_ && *slots_ != SlotIndexes(function_, *cfg_)) return "slot indexes";
  if (intervals_ && *intervals_ != LiveIntervals(function_, *cfg_, *slots_, &*dominators_)) return "live intervals";
  if (intervals_ && !intervals_->verify().empty()) return "live intervals";
  if (pressure_) {
    const RegisterPressure anew(module_, function_, *cfg_, *slots_, *intervals_, *files_);
    if (!std::ranges::equal(pressure_->along(), anew.along())) return "register pressure";
  }
  return {};
}

}  // namespace ptxopt
