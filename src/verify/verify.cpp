#include "verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <thread>

#include "exec/machine.h"
#include "support/parallel.h"
#include "verify/counterexample.h"
#include "verify/coverage.h"
#include "verify/determinacy.h"
#include "verify/difference.h"
#include "verify/fields.h"
#include "verify/input.h"
#include "verify/results.h"
#include "verify/run.h"

namespace ptxopt::verify {

namespace {

using exec::Dim3;
using exec::ExecError;
using exec::FaultKind;

constexpr uint64_t kLeastWork = 1'000'000;  // for a kernel, however many there are

const Function* findKernel(const Module& m, std::string_view name) {
  for (const Function& f : m.functions)
    if (f.isEntry && f.hasBody && m.text(f.name) == name) return &f;
  return nullptr;
}

class KernelCheck {
 public:
  KernelCheck(const Module& a, const Module& b, const Function& kernel, const VerifyOptions& options)
      : a_(a), b_(b), kernel_(kernel), options_(options) {
    result_.kernel = a.text(kernel.name);
  }

  KernelVerdict run() {
    try {
      check();
    } catch (const ExecError& e) {
      inconclusive(exec::name(e.kind), describe(a_, e));
    }
    if (options_.coverage) {
      result_.reached = coverage_.reachedLines();
      result_.executed = coverage_.executedLines();
      result_.changed.assign(changed_.begin(), changed_.end());
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
    if (!prepare()) return;
    const ShapeLimits limits = shapeLimits(a_, kernel_);
    const std::vector<Dim3> blocks = determinedBlocks(limits);
    for (; wantsMore(); ++number_) {
      // Later ones are partly like earlier ones, on which the first file is known to run.
      Trial trial = shortOnes_ / 8 % 2 == 1 && !good_.empty()
                        ? nearTrial(good_[number_ / 2 % good_.size()], use_, options_.seed, number_)
                        : makeTrial(use_, limits, options_.seed, number_, blocks);
      if (!hasRun_ && tooLongInputs_ % 2 == 1) makeSmall(trial);
      pin(trial);
      observes_ = options_.coverage && shortOnes_ <= options_.trials * kObservedRounds;
      if (tryOut(trial)) return;
      if (!hasRun_ && isHopeless()) break;
    }
    conclude();
  }

  // Whether there is something to compare.
  bool prepare() {
    const auto no = [&](std::string why) {
      inconclusive("interface", std::move(why));
      return false;
    };
    if (findKernel(b_, result_.kernel) == nullptr) return no("the second file has no such kernel");
    machineA_ = std::make_unique<exec::Machine>(a_);
    machineB_ = std::make_unique<exec::Machine>(b_);
    const exec::Program& pa = machineA_->kernel(result_.kernel);
    const exec::Program& pb = machineB_->kernel(result_.kernel);
    if (!sameParameters(pa, pb)) return no("the two files give the kernel different parameters");
    use_ = findUse(a_, kernel_, pa);
    own_.emplace(a_, *machineA_, result_.kernel, use_);
    for (const auto& [name, value] : options_.scalars)
      if (std::none_of(use_.fields.begin(), use_.fields.end(), [&](const Field& f) { return f.parameter == name; }))
        return no(fmt::format("the kernel has no parameter '{}'", name));
    stepLimit_ = std::min(options_.stepLimit, kFirstStepLimit);
    // Threads are run in a fixed order, which can hide that a barrier is gone; a race tells.
    raceTrials_ = use_.shape.barrier ? kRaceTrials : 0;
    return true;
  }

  // Whether another trial is to be made; from the short ones on with their limit.
  bool wantsMore() {
    // What is spent is counted, not measured, so that the verdict does not depend on the machine.
    if (work_ > options_.work &&
        (result_.trials >= std::min(options_.trials, kLeastTrials) || work_ > 2 * options_.work))
      return false;
    if (result_.trials < options_.trials && number_ < options_.trials * 4 + 8) return true;
    if (result_.trials == 0 || shortOnes_++ == options_.trials * kShortRounds) return false;
    stepLimit_ = std::min(stepLimit_, kShortStepLimit);
    return true;
  }

  // True when the trial shows a difference, which is then reported.
  bool tryOut(Trial& trial) {
    std::string drop;
    if (auto difference = compare(trial, drop)) {
      // Other inputs may not divide by zero or race, so that this one says nothing, rather than that nothing can be
      // said.
      if (drop = own_->dividesByZero(trial, stepLimit_); !drop.empty()) {
        lastReason_ = exec::name(FaultKind::DivisionByZero);
      } else {
        const Determinacy::Reason reason = own_->undetermined(trial, *difference, stepLimit_);
        if (reason.text.empty()) {
          report(trial, *difference);
          return true;
        }
        drop = "they differ, but the first file's result is not determined: " + reason.text;
        lastUndetermined_ = drop;
        lastReason_ = "not determined";
        ++(reason.isRace ? raced_ : unwritten_);
        ++result_.undeterminedDifferences;
        hasRun_ = true;
      }
    }
    if (drop.empty()) return accept(trial);
    if (shortOnes_ == 0) ++result_.dropped;
    lastDrop_ = drop;
    if (!hasRun_ && tooLong_ && ++tooLongInputs_ % 4 == 0)
      stepLimit_ = std::min(options_.stepLimit, stepLimit_ * 4);
    return false;
  }

  // The two leave the same.
  bool accept(Trial& trial) {
    ++result_.trials;
    hasRun_ = true;
    if (options_.coverage && result_.trials <= kLookedAt && (result_.trials == 1 || !result_.undetermined.empty()))
      result_.undetermined = own_->ownUndetermined(trial, stepLimit_);
    if (good_.size() < kMostGood) good_.push_back(trial);
    if (raceTrials_ == 0 || trial.block.count() <= 32) return false;
    --raceTrials_;
    if (!options_.grid) trial.grid = trial.cluster, trial.firstCluster = 0;
    const auto race = compareRaces(trial);
    if (race) report(trial, *race);
    return race.has_value();
  }

  // What it does not support it will not support for other inputs either, mostly; and long runs cost.
  bool isHopeless() const {
    return (unsupported_ && result_.dropped >= options_.trials + 8) || tooLongInputs_ >= kMostTooLong;
  }

  void conclude() {
    // A race says nothing about other inputs; when it is the rule, what the others say is too little.
    if (unwritten_ > 0 || raced_ > result_.trials) return inconclusive("not determined", lastUndetermined_);
    if (result_.trials == 0)
      return inconclusive(lastReason_,
                          fmt::format("no input was found that the first file runs; the last: {}", lastDrop_));
    result_.verdict = Verdict::Equal;
  }

  // One warp, for kernels that take long.
  void makeSmall(Trial& trial) const {
    trial.grid = trial.cluster;
    trial.firstCluster = 0;
    if (shapeLimits(a_, kernel_).required.x == 0) trial.block = {32, 1, 1};
  }

  // What the options fix.
  void pin(Trial& t) const {
    if (options_.grid) t.grid = *options_.grid;
    if (options_.grid || options_.cluster) t.firstCluster = 0;
    if (options_.block) t.block = *options_.block;
    if (options_.cluster) t.cluster = *options_.cluster;
    if (options_.dynamicShared) t.dynamicShared = *options_.dynamicShared;
    for (std::size_t k = 0; k < use_.fields.size(); ++k)
      if (const auto found = options_.scalars.find(use_.fields[k].parameter); found != options_.scalars.end()) {
        t.fields[k].isPointer = false;
        t.fields[k].bits = found->second;
      }
  }

  static bool sameParameters(const exec::Program& a, const exec::Program& b) {
    if (a.parameterBytes() != b.parameterBytes() || a.parameters().size() != b.parameters().size()) return false;
    for (std::size_t i = 0; i < a.parameters().size(); ++i)
      if (a.parameters()[i].place.offset != b.parameters()[i].place.offset ||
          a.parameters()[i].place.bytes != b.parameters()[i].place.bytes)
        return false;
    return true;
  }

  // What the optimizer adds may cost steps; only an endless loop is a difference. The warps of the first file may
  // each have run nearly kStepsTogether steps that nobody counted, which a few more make count.
  uint64_t limitOfOther(const Trial& trial) const {
    constexpr uint64_t kMostWarps = 4096;
    const uint64_t warps = trial.grid.count() * ((trial.block.count() + 31) / 32);
    return 4 * (stepLimit_ + exec::kStepsTogether * std::min(warps, kMostWarps));
  }

  // Making a warp costs, too.
  void count(const exec::Machine& machine, const Trial& trial, unsigned cost = 1) {
    const uint64_t blocks = trial.grid.count() - trial.firstCluster * trial.cluster.count();
    work_ +=
        cost * machine.lastSteps() + kWarpWork * std::min<uint64_t>(blocks, 64) * ((trial.block.count() + 31) / 32);
  }

  // Runs a trial on both. A difference, or none; `drop` says why the trial says nothing.
  std::optional<Difference> compare(const Trial& trial, std::string& drop) {
    Results resultsA(a_, &coverage_), resultsB(b_);
    const Run a =
        runTrial(*machineA_, result_.kernel, use_, trial, stepLimit_, {}, {}, observes_ ? &resultsA : nullptr);
    count(*machineA_, trial);
    tooLong_ = a.fault && a.fault->kind == FaultKind::StepLimit;
    unsupported_ = a.fault && a.fault->kind == FaultKind::Unsupported;
    if (a.fault) {
      lastReason_ = exec::name(a.fault->kind);
      drop = describe(a_, *a.fault);
      return std::nullopt;
    }
    const Run b = runTrial(*machineB_, result_.kernel, use_, trial, limitOfOther(trial), {}, {},
                           observes_ ? &resultsB : nullptr);
    count(*machineB_, trial);
    if (observes_) noteChanges(resultsA, resultsB);
    if (b.fault) {
      if (b.fault->kind == FaultKind::Unsupported) {
        drop = describe(b_, *b.fault);
        lastReason_ = exec::name(b.fault->kind);
        unsupported_ = true;
        return std::nullopt;
      }
      Difference d;
      d.where = "the second file fails: " + describe(b_, *b.fault);
      d.fails = true;
      d.slow = b.fault->kind == FaultKind::StepLimit;
      return d;
    }
    return findDifference({*machineA_, a}, {*machineB_, b}, use_, options_.anyNan);
  }

  // Lines that computed something else in the second file, or are in one only.
  void noteChanges(const Results& a, const Results& b) {
    for (const auto& [line, result] : a.byLine())
      if (const auto other = b.byLine().find(line);
          other == b.byLine().end() ? result != 0 : other->second != result)
        changed_.insert(line);
    for (const auto& [line, result] : b.byLine())
      if (result != 0 && !a.byLine().contains(line)) changed_.insert(line);
  }

  // Threads that share memory mostly rely on the size of the block: the common sizes with which the first file
  // fails at nothing and its result is determined. All, and the others, if there is none.
  std::vector<Dim3> determinedBlocks(const ShapeLimits& limits) {
    std::vector<Dim3> blocks;
    if (!use_.shape.barrier || options_.block) return blocks;
    Checking checks;
    checks.races = checks.uninitialised = true;
    for (const Dim3& block : commonBlocks(use_, limits))
      for (unsigned number = 0; number < kBlockTrials; ++number) {
        Trial trial = makeTrial(use_, limits, options_.seed, number, {block});
        pin(trial);
        if (!options_.grid) trial.grid = trial.cluster, trial.firstCluster = 0;
        const Run run =
            runTrial(*machineA_, result_.kernel, use_, trial,
                     Determinacy::kCheckedStepLimit * std::max<uint64_t>(1, block.count() / 128), checks);
        count(*machineA_, trial, kCheckedCost);
        if (run.fault && run.fault->kind != FaultKind::StepLimit) continue;
        blocks.push_back(block);
        if (blocks.size() == kMostBlocks) return blocks;
        break;
      }
    return blocks;
  }

  // A data race in the second where the first has none.
  std::optional<Difference> compareRaces(const Trial& trial) {
    Checking checks;
    checks.races = checks.globalRaces = true;
    const Run a = runTrial(*machineA_, result_.kernel, use_, trial, Determinacy::kCheckedStepLimit * 4, checks);
    count(*machineA_, trial, kCheckedCost);
    if (a.fault && a.fault->kind != FaultKind::StepLimit) return std::nullopt;
    // What the first has not come to, the second, which may be faster, is not to come to either.
    const uint64_t limit = Determinacy::kCheckedStepLimit * (a.fault ? 2 : 4);
    const Run b = runTrial(*machineB_, result_.kernel, use_, trial, limit, checks);
    if (!b.fault || b.fault->kind != FaultKind::Race) return std::nullopt;
    Difference d;
    d.where = "only the second file has a data race: " + describe(b_, *b.fault);
    d.race = true;
    return d;
  }

  // ---- counterexamples ----

  void report(Trial trial, Difference difference) {
    unsigned tries = difference.slow || difference.race ? 30 : 200;
    for (bool again = true; again && tries > 0;) {
      again = false;
      for (const Trial& s : smallerTrials(trial, use_, shapeLimits(a_, kernel_), options_)) {
        if (tries-- == 0) break;
        std::string drop;
        auto d = difference.race ? compareRaces(s) : compare(s, drop);
        // A smaller one may have what the other has not: a race, say, for the width of an image has become one.
        if (!d || !own_->dividesByZero(s, stepLimit_).empty()) continue;
        if (!difference.race && !own_->undetermined(s, *d, stepLimit_).text.empty()) continue;
        difference = std::move(*d);
        trial = s;
        again = true;
        break;
      }
    }
    result_.verdict = Verdict::Different;
    result_.detail = explain(trial, difference, use_, writersOf(trial, difference));
  }

  // The threads that wrote the byte that differs, in both files.
  std::pair<std::string, std::string> writersOf(const Trial& trial, const Difference& d) {
    if (d.field == SIZE_MAX || d.reach) return {};
    const auto watch = std::make_pair(d.field, d.offset);
    const Run a = runTrial(*machineA_, result_.kernel, use_, trial, stepLimit_, {}, watch);
    const Run b = runTrial(*machineB_, result_.kernel, use_, trial, limitOfOther(trial), {}, watch);
    const auto who = [](const Run& r) {
      return r.memory->lastWriter().empty() ? "nobody" : r.memory->lastWriter();
    };
    return {who(a), who(b)};
  }

  const Module& a_;
  const Module& b_;
  const Function& kernel_;
  const VerifyOptions& options_;
  KernelVerdict result_;
  KernelUse use_;
  std::unique_ptr<exec::Machine> machineA_, machineB_;
  std::optional<Determinacy> own_;  // of the first file
  // Most inputs on which a kernel runs long are nonsense, such as an array of indices that are not in order: the
  // limit only rises to that of the options as long as no input ends within it.
  static constexpr uint64_t kFirstStepLimit = 250'000;
  // What runs soon is run on more inputs, for which these are the limits.
  static constexpr uint64_t kShortStepLimit = 20'000;
  static constexpr unsigned kShortRounds = 12;
  static constexpr unsigned kObservedRounds = 3;  // of the short ones: an observed launch is slow
  static constexpr unsigned kRaceTrials = 2;
  static constexpr unsigned kBlockTrials = 2;
  static constexpr std::size_t kMostBlocks = 5;
  static constexpr uint64_t kWarpWork = 200;
  static constexpr unsigned kCheckedCost = 12;
  static constexpr unsigned kLeastTrials = 8;  // whatever the work
  static constexpr unsigned kMostTooLong = 10;
  uint64_t stepLimit_ = kFirstStepLimit;
  uint64_t work_ = 0;  // as VerifyOptions::work counts it
  unsigned number_ = 0, shortOnes_ = 0, raceTrials_ = 0;
  unsigned tooLongInputs_ = 0;
  bool hasRun_ = false;  // the first file, on some input
  // Inputs on which the two differ, but the first races, or uses what nothing has written.
  unsigned raced_ = 0, unwritten_ = 0;
  std::string lastDrop_, lastUndetermined_, lastReason_;
  static constexpr unsigned kLookedAt = 6;
  static constexpr std::size_t kMostGood = 96;
  bool observes_ = false;                       // VerifyOptions::coverage, and the trial is an early one
  std::vector<Trial> good_;                     // inputs that said something, the first so many
  bool tooLong_ = false, unsupported_ = false;  // why the last trial was dropped
  Coverage coverage_{a_};
  std::set<std::size_t> changed_;  // KernelVerdict::changed
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
