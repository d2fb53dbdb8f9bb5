// The passes run with the profile and without it; kernels whose text differs are judged both ways by the same input.
// The chosen mixture is optimized once more and checked function by function against the texts that were judged.
#include "guard/with_profile.h"

#include <algorithm>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "cut/closure.h"
#include "cut/cut.h"
#include "guard/profile_times.h"
#include "support/process_time.h"

namespace ptxopt::guard {
namespace {

using Texts = std::map<std::string_view, std::string_view>;  // of functions, by name

Texts textsOf(const Result& result) {
  const std::string_view text = cut::withoutMark(result.output);
  Texts texts;
  for (const FunctionOutcome& f : result.outcomesAfter) texts[f.name] = text.substr(f.begin, f.end - f.begin);
  return texts;
}

// Options of passes that run for their result alone.
Options quiet(Options options) {
  options.report = options.loopRemarks = options.warnUninitialised = options.printAfterAll = false;
  options.printBefore.clear();
  options.printAfter.clear();
  return options;
}

void replace(ptxas::Measures& in, const ptxas::FunctionMeasures& by) {
  const auto at = std::ranges::lower_bound(in.functions, by.name, {}, &ptxas::FunctionMeasures::name);
  if (at != in.functions.end() && at->name == by.name)
    *at = by;
  else
    in.functions.insert(at, by);
}

class ProfileChoice {
 public:
  ProfileChoice(std::string_view text, const Options& options, const GuardOptions& guard)
      : text_(text), options_(options), guard_(guard) {}

  // `with`: what optimize() makes with the profile.
  GuardedResult run(Result with) {
    if (with.status != Status::Ok) return judgedAlone(std::move(with));
    Options plain = quiet(options_);
    plain.profile.clear();
    Result without = optimize(text_, plain);
    if (without.status != Status::Ok) return judgedAlone(std::move(with));
    findProfiled(without, with);
    if (profiled_.empty()) return judgedAlone(std::move(with));
    GuardOptions guard = guard_;
    guard.ptxas.keepsOutput = false;
    without_ = judged(text_, plain, guard, std::move(without));
    if (!without_.done.guard.trouble.empty()) return judgedAlone(std::move(with));
    const bool isWhole = std::ranges::all_of(with.outcomes, [&](const FunctionOutcome& f) {
      return profiled_.contains(f.name) || (!f.changed && !isChangedWithout(f.name));
    });
    Options seen = quiet(options_);
    for (const FunctionOutcome& f : with.outcomes)
      if (f.isKernel && !profiled_.contains(f.name)) seen.leave.push_back(f.name);
    guard.ptxas.keepsOutput = guard_.ptxas.keepsOutput && isWhole;
    Result first = isWhole ? with : optimize(text_, seen);
    with_ = judged(text_, seen, guard, std::move(first));
    if (!with_.done.guard.trouble.empty()) return judgedAlone(std::move(with));
    choose();
    return put();
  }

 private:
  GuardedResult judgedAlone(Result first) { return judged(text_, options_, guard_, std::move(first)).done; }

  // The kernels whose text is another one by the profile.
  void findProfiled(const Result& without, const Result& with) {
    const Texts one = textsOf(without), other = textsOf(with);
    for (const FunctionOutcome& f : with.outcomes)
      if (f.isKernel && one.at(f.name) != other.at(f.name)) profiled_.insert(f.name);
  }

  bool isChangedWithout(const std::string& name) const {
    const auto& outcomes = without_.done.result.outcomes;
    const auto at = std::ranges::find(outcomes, name, &FunctionOutcome::name);
    return at != outcomes.end() && at->changed;
  }

  // Where passes changed nothing without the profile, it is the input.
  const ptxas::FunctionMeasures* figuresWithout(const std::string& name) const {
    const ptxas::FunctionMeasures* const m = without_.done.guard.after.find(name);
    return m != nullptr ? m : with_.done.guard.before.find(name);
  }

  // Kernels that have other text with the profile, and were not refused by the input.
  std::set<std::string> candidates() const {
    const std::vector<KeptFunction>& kept = with_.done.guard.kept;
    const Texts one = textsOf(without_.done.result), other = textsOf(with_.done.result);
    std::set<std::string> found;
    for (const std::string& name : profiled_)
      if (one.at(name) != other.at(name) && std::ranges::find(kept, name, &KeptFunction::name) == kept.end())
        found.insert(name);
    return found;
  }

  // Times of candidates, by the profile's iterations.
  void findTimes(const std::set<std::string>& candidates) {
    if (candidates.empty() || guard_.rule != ptxas::GuardRule::Time) return;
    const auto of = [&](const Guarded& judged) {
      const Result& result = judged.done.result;
      const BitVector isAsked = cut::functionsThat(
          result.outcomesAfter, [&](const FunctionOutcome& f) { return candidates.contains(f.name); });
      const BitVector isCut = cut::cuttableKernels(result.outcomesAfter).andNot(isAsked);
      return profiledTimes(cut::cutText(result.output, result.outcomesAfter, isCut), options_.profile,
                           with_.done.guard.architecture, settings_);
    };
    settings_ = guard_.ptxas;
    if (!with_.done.guard.ptxas.empty()) settings_.program = with_.done.guard.ptxas;
    auto pending = std::async(std::launch::async, [&] { return of(without_); });
    timesWith_ = of(with_);
    timesWithout_ = pending.get();
  }

  std::optional<ptxas::ProfiledTimes> timesOf(const std::string& name) const {
    const auto without = timesWithout_.find(name), with = timesWith_.find(name);
    if (without == timesWithout_.end() || with == timesWith_.end()) return std::nullopt;
    return ptxas::ProfiledTimes{without->second, with->second};
  }

  void choose() {
    const GuardReport& report = with_.done.guard;
    const std::set<std::string> compared = candidates();
    findTimes(compared);
    for (const KeptFunction& kept : report.kept)
      if (profiled_.contains(kept.name)) refused_.push_back({kept.name, kept.reason, kept.detail});
    for (const std::string& name : compared) {
      const ptxas::FunctionMeasures *const before = figuresWithout(name), *const after = report.after.find(name);
      if (before == nullptr || after == nullptr) {
        refused_.push_back({name, std::string(kNotJudged), {}});
        continue;
      }
      const ptxas::Comparison by = compareProfiled(*before, *after, guard_.rule, timesOf(name));
      if (by.sign < 0)
        taken_.insert(name);
      else
        refused_.push_back({name, std::string(by.sign == 0 ? "no-gain" : ptxas::name(by.by)),
                            by.sign == 0 ? std::string() : by.text()});
    }
  }

  // The options of optimize() by which these kernels get what comes of the profile.
  Options optionsFor(const std::set<std::string>& taken) const {
    const auto isTaken = [&](const std::string& name) { return taken.contains(name); };
    Options mixed = options_;
    mixed.leave = without_.options.leave;
    mixed.inFunction = without_.options.inFunction;
    std::erase_if(mixed.leave, isTaken);
    std::erase_if(mixed.inFunction, [&](const auto& its) { return isTaken(its.first); });
    for (const auto& [name, its] : with_.options.inFunction)
      if (isTaken(name)) mixed.inFunction[name] = its;
    for (const FunctionOutcome& f : without_.done.result.outcomes)
      if (f.isKernel && !isTaken(f.name)) mixed.inFunction[f.name].usesProfile = false;
    return mixed;
  }

  // The kernels with a profile that are not what was judged: what they are may depend on how much others grow. Nothing: some other
  // function is not.
  std::optional<std::vector<std::string>> othersThanJudged(const Result& result) const {
    const Texts is = textsOf(result), one = textsOf(without_.done.result), other = textsOf(with_.done.result);
    std::vector<std::string> found;
    for (const FunctionOutcome& f : result.outcomes) {
      if (taken_.contains(f.name)) {
        if (is.at(f.name) != other.at(f.name)) found.push_back(f.name);
        continue;
      }
      if (is.at(f.name) != one.at(f.name)) return std::nullopt;
      // Kernels of both kinds may call it.
      if (!f.isKernel && !taken_.empty() && is.at(f.name) != other.at(f.name)) return std::nullopt;
    }
    return found;
  }

  // The kernels that are taken with the profile, the others without.
  Result together() {
    constexpr std::size_t kMostTries = 3;
    for (std::size_t tries = 0;; ++tries) {
      Result result = optimize(text_, optionsFor(taken_));
      if (result.status != Status::Ok || taken_.empty()) return result;
      auto others = othersThanJudged(result);
      if (others && others->empty()) return result;
      if (!others || tries == kMostTries) others.emplace(taken_.begin(), taken_.end());
      for (const std::string& name : *others) {
        refused_.push_back({name, "together", {}});
        taken_.erase(name);
      }
    }
  }

  GuardedResult put() {
    GuardedResult done;
    done.result = together();
    const auto isOf = [&](bool isTaken) {
      return [this, isTaken](const auto& f) { return taken_.contains(f.name) != isTaken; };
    };
    GuardReport one = std::move(without_.done.guard), other = std::move(with_.done.guard);
    std::erase_if(one.kept, isOf(false));
    std::erase_if(one.retried, isOf(false));
    std::erase_if(other.kept, isOf(true));
    std::erase_if(other.retried, isOf(true));
    GuardReport& report = done.guard = std::move(other);
    if (!report.asked) {  // all with the profile have a known fault of ptxas
      report.asked = one.asked;
      report.architecture = one.architecture;
    }
    report.kept.insert(report.kept.begin(), one.kept.begin(), one.kept.end());
    report.retried.insert(report.retried.begin(), one.retried.begin(), one.retried.end());
    report.withoutProfile = std::move(refused_);
    std::ranges::sort(report.withoutProfile, {}, &WithoutProfile::name);
    // The other kernels: as they are without the profile, or, where nothing was changed so, as in the input.
    ptxas::Measures after = one.asked ? std::move(one.after) : report.before;
    for (const ptxas::FunctionMeasures& f : report.after.functions)
      if (taken_.contains(f.name)) replace(after, f);
    for (const ptxas::FunctionMeasures& f : report.before.functions)
      if (after.find(f.name) == nullptr) replace(after, f);
    for (const ptxas::FunctionMeasures& f : one.before.functions) replace(report.before, f);
    if (report.before.architecture.empty()) report.before.architecture = one.before.architecture;
    after.architecture = report.before.architecture;
    report.after = std::move(after);
    if (done.result.output != with_.done.result.output) report.output.reset();
    return done;
  }

  const std::string_view text_;
  Options options_;
  const GuardOptions& guard_;
  std::set<std::string> profiled_, taken_;  // kernels
  Guarded without_, with_;
  std::vector<WithoutProfile> refused_;
  std::map<std::string, ptxas::ProfiledTime> timesWithout_, timesWith_;
  ptxas::PtxasSettings settings_;
};

}  // namespace

GuardedResult judgedWithProfile(std::string_view text, const Options& options, const GuardOptions& guard) {
  if (guard.mode == GuardMode::Off) return {optimize(text, options), {.mode = guard.mode}};
  Options judgedBy = options;
  judgedBy.outcomes = true;
  Result first = optimize(text, judgedBy);
  const ProcessWatch watch(options.times);
  GuardedResult done = options.profile.empty() ? judged(text, options, guard, std::move(first)).done
                                               : ProfileChoice(text, judgedBy, guard).run(std::move(first));
  done.guard.wallSeconds = watch.wallSeconds();
  done.guard.cpuSeconds = watch.cpuSeconds();
  return done;
}

}  // namespace ptxopt::guard
