// Trials are made in a fixed order and dropped where the first module faults; work already spent decides when to stop.
// A difference is checked for races and undetermined values, retried with threads kept apart, and made smaller before
// it is reported.
#include "verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <thread>

#include "support/parallel.h"
#include "verify/apart.h"
#include "verify/comparison.h"
#include "verify/counterexample.h"
#include "verify/facts_trials.h"
#include "verify/values.h"

namespace ptxopt::verify {

namespace {

using exec::Dim3;
using exec::ExecError;
using exec::FaultKind;

constexpr uint64_t kLeastWork = 1'000'000;  // for a kernel, however many there are

class KernelCheck {
 public:
  KernelCheck(const Module& a, const Module& b, const Function& kernel, const VerifyOptions& options)
      : a_(a), kernel_(kernel), options_(options), comparison_(a, b, kernel, options) {
    result_.kernel = a.text(kernel.name);
  }

  KernelVerdict run() {
    try {
      check();
    } catch (const ExecError& e) {
      inconclusive(exec::name(e.kind), describe(a_, e));
    } catch (const std::bad_alloc&) {
      inconclusive("out of memory", "there is not enough memory for its launches");
    }
    if (options_.coverage) {
      result_.reached = comparison_.coverage().reachedLines();
      result_.executed = comparison_.coverage().executedLines();
      result_.changed.assign(comparison_.changed().begin(), comparison_.changed().end());
    }
    return std::move(result_);
  }

 private:
  void inconclusive(std::string_view reason, std::string why) {
    result_.verdict = Verdict::Inconclusive;
    result_.reason = reason;
    result_.detail = std::move(why);
  }

  void check() {
    if (std::string why = comparison_.prepare(); !why.empty()) return inconclusive("interface", std::move(why));
    stepLimit_ = std::min(options_.stepLimit, options_.firstStepLimit);
    // Threads are run in a fixed order, which can hide that a barrier is gone; a race shows it.
    raceTrials_ = use().shape.barrier ? kRaceTrials : 0;
    const std::vector<Dim3> blocks = determinedBlocks();
    for (; wantsMore(); ++number_) {
      // Later ones are partly like earlier ones, on which the first file is known to run.
      Trial trial = shortOnes_ / 8 % 2 == 1 && !good_.empty()
                        ? nearTrial(good_[number_ / 2 % good_.size()], use(), options_.seed, number_)
                        : makeTrial(use(), limits(), options_.seed, number_, blocks);
      if (!hasRun_ && tooLongInputs_ > 0 && number_ % 2 == 1) makeSmall(trial);
      pin(trial);
      isApart_ = apart_ && mix(number_) % 2 == 1 && setApart(trial, *apart_, limits(), options_);
      observes_ = options_.coverage && shortOnes_ <= options_.trials * kObservedIterations;
      if (tryOut(trial)) return;
      if (!hasRun_ && isHopeless()) break;
    }
    conclude();
  }

  // Whether another trial is to be made; from the short ones on with their limit.
  bool wantsMore() {
    // What is spent is counted, not measured, so that the verdict does not depend on the machine.
    const uint64_t work = comparison_.work();
    if (work > options_.work &&
        (result_.trials >= std::min(options_.trials, kLeastTrials) || work > 2 * options_.work))
      return false;
    if (result_.trials < options_.trials && number_ < options_.trials * 4 + 8) return true;
    if (result_.trials == 0 || shortOnes_++ == options_.trials * kShortIterations) return false;
    stepLimit_ = std::min(stepLimit_, kShortStepLimit);
    return true;
  }

  // True when the trial shows a difference, which is then reported.
  bool tryOut(Trial& trial) {
    const Comparison::Outcome outcome = comparison_.compare(trial, stepLimit_, observes_);
    tooLong_ = outcome.isTooLong;
    unsupported_ = outcome.isUnsupported;
    if (!outcome.difference) {
      if (outcome.dropped.empty()) return accept(trial);
      if (outcome.isOfSecond) notSupported_ = outcome.dropped;
      drop(outcome.dropped, outcome.reason);
      return false;
    }
    // Other inputs may not divide by zero or race, so that this one says nothing, rather than that nothing can be
    // said.
    if (std::string why = own().dividesByZero(trial, stepLimit_); !why.empty()) {
      drop(std::move(why), exec::name(FaultKind::DivisionByZero));
      return false;
    }
    const Determinacy::Reason reason = own().undetermined(trial, *outcome.difference, stepLimit_);
    if (reason.text.empty()) {
      report(trial, *outcome.difference);
      return true;
    }
    lastUndetermined_ = "they differ, but the first file's result is not determined: " + reason.text;
    hasRun_ = true;
    ++result_.undeterminedDifferences;
    // What single threads read that others would have written says nothing about other inputs.
    if (!isApart_) ++(reason.isRace ? raced_ : unwritten_);
    drop(lastUndetermined_, "not determined");
    return reason.isRace && tryApart(trial, *outcome.difference);
  }

  void drop(std::string why, std::string_view reason) {
    if (shortOnes_ == 0) {
      ++result_.dropped;
      result_.lastDropped = why;
    }
    lastDrop_ = std::move(why);
    lastReason_ = reason;
    if (hasRun_ || !tooLong_ || tooLongInputs_ == kMostTooLong) return;
    if (++tooLongInputs_ % 4 == 0) stepLimit_ = std::min(options_.stepLimit, stepLimit_ * 4);
    // What has no end has none under any limit. Other inputs may end soon.
    if (tooLongInputs_ == kMostTooLong) stepLimit_ = std::min(options_.stepLimit, kShortStepLimit);
  }

  // The two differ where threads race: perhaps also where they do not. True when that is then reported.
  bool tryApart(const Trial& trial, const Difference& difference) {
    if (apartTries_ == 0) return false;
    --apartTries_;
    std::optional<TrialMemory::Writer> writer;
    if (const auto writers = comparison_.writersOf(trial, difference, stepLimit_)) writer = writers->first;
    const std::vector<Apart> ways = waysApart(use(), options_);
    for (const Trial& other : apartTrials(trial, ways, writer, limits(), options_)) {
      const auto d = comparison_.compare(other, stepLimit_, false).difference;
      if (!d || !isDetermined(other, *d)) continue;
      report(other, *d);
      return true;
    }
    for (const Apart& apart : ways)
      if (Trial other = trial;
          !apart_ && setApart(other, apart, limits(), options_) && comparison_.isDetermined(other))
        apart_ = apart;
    return false;
  }

  bool isDetermined(const Trial& trial, const Difference& d) const {
    return own().dividesByZero(trial, stepLimit_).empty() &&
           (d.race || own().undetermined(trial, d, stepLimit_).text.empty());
  }

  // The two leave the same.
  bool accept(Trial& trial) {
    ++result_.trials;
    hasRun_ = true;
    if (options_.coverage && result_.trials <= kLookedAt && (result_.trials == 1 || !result_.undetermined.empty()))
      result_.undetermined = own().ownUndetermined(trial, stepLimit_);
    if (good_.size() < kMostGood) good_.push_back(trial);
    if (raceTrials_ == 0 || trial.block.count() == 1) return false;
    --raceTrials_;
    if (!options_.grid) trial.grid = trial.cluster, trial.firstCluster = 0;
    const auto race = comparison_.compareRaces(trial);
    if (race) report(trial, *race);
    return race.has_value();
  }

  // What it does not support it will not support for other inputs either, mostly.
  bool isHopeless() const { return unsupported_ && result_.dropped >= options_.trials + 8; }

  void conclude() {
    // A race says nothing about other inputs; when it is the rule, what the others say is too little.
    if (unwritten_ > 0 || raced_ > result_.trials) return inconclusive("not determined", lastUndetermined_);
    if (result_.trials == 0)
      return inconclusive(lastReason_,
                          fmt::format("no input was found that the first file runs; the last: {}", lastDrop_));
    // What one input needs of the second file and cannot be executed may differ there.
    if (!notSupported_.empty())
      return inconclusive(exec::name(FaultKind::Unsupported),
                          "the second file cannot be executed on some inputs: " + notSupported_);
    result_.verdict = Verdict::Equal;
  }

  // One warp, for kernels that take long.
  void makeSmall(Trial& trial) const {
    trial.grid = trial.cluster;
    trial.firstCluster = 0;
    if (limits().required.x == 0) trial.block = {32, 1, 1};
  }

  // What the options fix.
  void pin(Trial& t) const {
    if (options_.grid) t.grid = *options_.grid;
    if (options_.grid || options_.cluster) t.firstCluster = 0;
    if (options_.block) t.block = *options_.block;
    if (options_.cluster) t.cluster = *options_.cluster;
    if (options_.dynamicShared) t.dynamicShared = *options_.dynamicShared;
    for (std::size_t k = 0; k < use().fields.size(); ++k)
      if (const auto found = options_.scalars.find(use().fields[k].parameter); found != options_.scalars.end()) {
        t.fields[k].isPointer = false;
        t.fields[k].bits = found->second;
      }
    keepToFacts(t, a_, kernel_, use(), limits());
  }

  // All, and the others, if there is none.
  std::vector<Dim3> determinedBlocks() {
    if (!use().shape.barrier || options_.block) return {};
    return comparison_.determinedBlocks(commonBlocks(use(), limits()), [this](const Dim3& block, unsigned number) {
      Trial trial = makeTrial(use(), limits(), options_.seed, number, {block});
      pin(trial);
      if (!options_.grid) trial.grid = trial.cluster, trial.firstCluster = 0;
      return trial;
    });
  }

  // ---- counterexamples ----

  void report(Trial trial, Difference difference) {
    unsigned tries = difference.slow || difference.race ? 30 : 200;
    for (bool again = true; again && tries > 0;) {
      again = false;
      for (const Trial& s : smallerTrials(trial, use(), limits(), options_)) {
        if (tries-- == 0) break;
        auto d = difference.race ? comparison_.compareRaces(s)
                                 : comparison_.compare(s, stepLimit_, observes_).difference;
        // A smaller one may have what the other has not: a race, say, for the width of an image has become one.
        if (!d || !isDetermined(s, *d)) continue;
        difference = std::move(*d);
        trial = s;
        again = true;
        break;
      }
    }
    result_.verdict = Verdict::Different;
    result_.detail = explain(trial, difference, use(), comparison_.writersOf(trial, difference, stepLimit_));
  }

  const KernelUse& use() const { return comparison_.use(); }
  const ShapeLimits& limits() const { return comparison_.limits(); }
  const Determinacy& own() const { return comparison_.own(); }

  const Module& a_;
  const Function& kernel_;
  const VerifyOptions& options_;
  Comparison comparison_;
  KernelVerdict result_;
  // What runs soon is run on more inputs, for which these are the limits.
  static constexpr uint64_t kShortStepLimit = 20'000;
  static constexpr unsigned kShortIterations = 20;
  static constexpr unsigned kObservedIterations = 3;  // of the short ones: an observed launch is slow
  static constexpr unsigned kRaceTrials = 2;
  static constexpr unsigned kApartTries = 16;
  static constexpr unsigned kLeastTrials = 8;  // whatever the work
  static constexpr unsigned kMostTooLong = 10;
  static constexpr unsigned kLookedAt = 6;
  static constexpr std::size_t kMostGood = 96;
  uint64_t stepLimit_ = 0;
  unsigned number_ = 0, shortOnes_ = 0, raceTrials_ = 0, apartTries_ = kApartTries;
  unsigned tooLongInputs_ = 0;
  bool hasRun_ = false;  // the first file, on some input
  // Inputs on which the two differ, but the first races, or uses what nothing has written.
  unsigned raced_ = 0, unwritten_ = 0;
  std::optional<Apart> apart_;  // how a kernel that raced does not
  bool isApart_ = false;        // the trial is so
  std::string lastDrop_, lastUndetermined_, lastReason_;
  std::string notSupported_;                    // of the second, on an input that the first runs
  bool observes_ = false;                       // VerifyOptions::coverage, and the trial is an early one
  std::vector<Trial> good_;                     // inputs that said something, the first that many
  bool tooLong_ = false, unsupported_ = false;  // why the last trial was dropped
};

}  // namespace

std::vector<KernelVerdict> verify(const Module& a, const Module& b, const VerifyOptions& options) {
  std::vector<const Function*> kernels;
  for (const Function& f : a.functions)
    if (f.isEntry && f.hasBody && (options.kernel.empty() || a.text(f.name) == options.kernel))
      kernels.push_back(&f);
  std::vector<KernelVerdict> verdicts(kernels.size());
  VerifyOptions each = options;
  each.work = std::max(options.work / std::max<std::size_t>(1, kernels.size()), kLeastWork);
  const auto one = [&](std::size_t i) { verdicts[i] = KernelCheck(a, b, *kernels[i], each).run(); };
  inParallel(options.jobs != 0 ? options.jobs : std::thread::hardware_concurrency(), kernels.size(), one);
  return verdicts;
}

}  // namespace ptxopt::verify
