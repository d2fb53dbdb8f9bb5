// The first module runs, then the second with four times its limit of steps, and what they leave is compared. Work is
// counted as warp instructions, with a surcharge for warps and for checked runs.
#include "verify/comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "exec/machine.h"

namespace ptxopt::verify {
namespace {

using exec::Dim3;
using exec::FaultKind;

constexpr unsigned kBlockTrials = 2;
constexpr std::size_t kMostBlocks = 5;
constexpr uint64_t kWarpWork = 200;    // making a warp costs, too
constexpr unsigned kCheckedCost = 12;  // of an instruction that is checked

bool hasKernel(const Module& m, std::string_view name) {
  return std::any_of(m.functions.begin(), m.functions.end(),
                     [&](const Function& f) { return f.isEntry && f.hasBody && m.text(f.name) == name; });
}

bool sameParameters(const exec::Program& a, const exec::Program& b) {
  if (a.parameterBytes() != b.parameterBytes() || a.parameters().size() != b.parameters().size()) return false;
  for (std::size_t i = 0; i < a.parameters().size(); ++i)
    if (a.parameters()[i].place.offset != b.parameters()[i].place.offset ||
        a.parameters()[i].place.bytes != b.parameters()[i].place.bytes)
      return false;
  return true;
}

// What the optimizer adds may cost steps; only an endless loop is a difference. The warps of the first file may
// each have run nearly kStepsTogether steps that nobody counted, which a few more make count.
uint64_t limitOfOther(const Trial& trial, uint64_t stepLimit) {
  constexpr uint64_t kMostWarps = 4096;
  const uint64_t warps = trial.grid.count() * ((trial.block.count() + 31) / 32);
  return 4 * (stepLimit + exec::kStepsTogether * std::min(warps, kMostWarps));
}

}  // namespace

Comparison::Comparison(const Module& a, const Module& b, const Function& kernel, const VerifyOptions& options)
    : a_(a),
      b_(b),
      kernel_(kernel),
      options_(options),
      name_(a.text(kernel.name)),
      limits_(shapeLimits(a, kernel)) {}

std::string Comparison::prepare() {
  if (!hasKernel(b_, name_)) return "the second file has no such kernel";
  machineA_ = std::make_unique<exec::Machine>(a_);
  machineB_ = std::make_unique<exec::Machine>(b_);
  const exec::Program& pa = machineA_->kernel(name_);
  const exec::Program& pb = machineB_->kernel(name_);
  if (!sameParameters(pa, pb)) return "the two files give the kernel different parameters";
  use_ = findUse(a_, kernel_, pa);
  own_.emplace(a_, *machineA_, name_, use_);
  for (const auto& [name, value] : options_.scalars)
    if (std::none_of(use_.fields.begin(), use_.fields.end(), [&](const Field& f) { return f.parameter == name; }))
      return fmt::format("the kernel has no parameter '{}'", name);
  return {};
}

void Comparison::count(const exec::Machine& machine, const Trial& trial, unsigned cost) {
  const uint64_t blocks = trial.grid.count() - trial.firstCluster * trial.cluster.count();
  work_ +=
      cost * machine.lastSteps() + kWarpWork * std::min<uint64_t>(blocks, 64) * ((trial.block.count() + 31) / 32);
}

Comparison::Outcome Comparison::compare(const Trial& trial, uint64_t stepLimit, bool observes) {
  Outcome outcome;
  const auto drop = [&](const Module& m, const exec::ExecError& fault) {
    outcome.dropped = describe(m, fault);
    outcome.reason = exec::name(fault.kind);
    outcome.isUnsupported = fault.kind == FaultKind::Unsupported || fault.kind == FaultKind::NoMemory;
  };
  Results resultsA(a_, &coverage_), resultsB(b_);
  const Run a = runTrial(*machineA_, name_, use_, trial, stepLimit, {.observer = observes ? &resultsA : nullptr});
  count(*machineA_, trial);
  if (a.fault) {
    drop(a_, *a.fault);
    outcome.isTooLong = a.fault->kind == FaultKind::StepLimit;
    return outcome;
  }
  const Run b = runTrial(*machineB_, name_, use_, trial, limitOfOther(trial, stepLimit),
                         {.observer = observes ? &resultsB : nullptr, .known = a.memory.get()});
  count(*machineB_, trial);
  if (observes) noteChanges(resultsA, resultsB);
  if (!b.fault) {
    outcome.difference = findDifference({*machineA_, a}, {*machineB_, b}, use_, options_.anyNan);
  } else if (b.fault->kind == FaultKind::Unsupported || b.fault->kind == FaultKind::NoMemory) {
    drop(b_, *b.fault);
    outcome.isOfSecond = b.fault->kind == FaultKind::Unsupported;
  } else {
    Difference& d = outcome.difference.emplace();
    d.where = "the second file fails: " + describe(b_, *b.fault);
    d.fails = true;
    d.slow = b.fault->kind == FaultKind::StepLimit;
  }
  return outcome;
}

// Lines that computed something else in the second file, or are in one only.
void Comparison::noteChanges(const Results& a, const Results& b) {
  for (const auto& [line, result] : a.byLine())
    if (const auto other = b.byLine().find(line); other == b.byLine().end() ? result != 0 : other->second != result)
      changed_.insert(line);
  for (const auto& [line, result] : b.byLine())
    if (result != 0 && !a.byLine().contains(line)) changed_.insert(line);
}

std::vector<Dim3> Comparison::determinedBlocks(const std::vector<Dim3>& blocks,
                                               const std::function<Trial(const Dim3&, unsigned)>& trialOf) {
  std::vector<Dim3> determined;
  Checking checks;
  checks.races = checks.uninitialised = true;
  for (const Dim3& block : blocks)
    for (unsigned number = 0; number < kBlockTrials; ++number) {
      const Trial trial = trialOf(block, number);
      const uint64_t limit = Determinacy::kCheckedStepLimit * std::max<uint64_t>(1, block.count() / 128);
      const Run run = runTrial(*machineA_, name_, use_, trial, limit, {.checks = checks});
      count(*machineA_, trial, kCheckedCost);
      if (run.fault && run.fault->kind != FaultKind::StepLimit) continue;
      determined.push_back(block);
      if (determined.size() == kMostBlocks) return determined;
      break;
    }
  return determined;
}

bool Comparison::isDetermined(const Trial& trial) {
  Checking checks;
  checks.races = checks.globalRaces = checks.uninitialised = true;
  const Run run = runTrial(*machineA_, name_, use_, trial, Determinacy::kCheckedStepLimit * 4, {.checks = checks});
  count(*machineA_, trial, kCheckedCost);
  return !run.fault;
}

std::optional<Difference> Comparison::compareRaces(const Trial& trial) {
  Checking checks;
  checks.races = checks.globalRaces = true;
  const Run a = runTrial(*machineA_, name_, use_, trial, Determinacy::kCheckedStepLimit * 4, {.checks = checks});
  count(*machineA_, trial, kCheckedCost);
  if (a.fault && a.fault->kind != FaultKind::StepLimit) return std::nullopt;
  // What the first has not come to, the second, which may be faster, is not to come to either.
  const uint64_t limit = Determinacy::kCheckedStepLimit * (a.fault ? 2 : 4);
  const Run b = runTrial(*machineB_, name_, use_, trial, limit, {.checks = checks});
  if (!b.fault || b.fault->kind != FaultKind::Race) return std::nullopt;
  Difference d;
  d.where = "only the second file has a data race: " + describe(b_, *b.fault);
  d.race = true;
  return d;
}

std::optional<Comparison::Writers> Comparison::writersOf(const Trial& trial, const Difference& d,
                                                         uint64_t stepLimit) {
  if (d.field == SIZE_MAX || d.reach) return std::nullopt;
  const auto watch = std::make_pair(d.field, d.offset);
  const Run a = runTrial(*machineA_, name_, use_, trial, stepLimit, {.watch = watch});
  const Run b = runTrial(*machineB_, name_, use_, trial, limitOfOther(trial, stepLimit), {.watch = watch});
  return Writers{a.memory->lastWriter(), b.memory->lastWriter()};
}

}  // namespace ptxopt::verify
