// The order of steps: known faults are looked for, both texts are assembled, functions are judged, those that got worse
// are retried, and the rest is put back. Judging repeats until nothing is worse, since keeping one text may change the
// code of its callers.
#include "guard/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <set>
#include <utility>

#include "cut/closure.h"
#include "guard/figures.h"
#include "guard/report.h"
#include "guard/retry.h"
#include "guard/with_profile.h"
#include "guard/without_faults.h"
#include "ptxas/choose.h"

namespace ptxopt::guard {
namespace {

bool changedAny(const Result& result) {
  return std::ranges::any_of(result.outcomes, [](const FunctionOutcome& f) { return f.changed; });
}

// ptxas was given the input under another name.
std::string asOfInput(std::string error, std::string_view fileName) {
  const std::string other = fmt::format("ptxas {},", ptxas::kInputName), its = fmt::format("ptxas {},", fileName);
  for (std::size_t at = 0; (at = error.find(other, at)) != std::string::npos; at += its.size())
    error.replace(at, other.size(), its);
  return error;
}

class Guard {
 public:
  Guard(std::string_view text, const Options& options, const GuardOptions& guard)
      : text_(text), options_(options), guard_(guard), ptxas_(guard.ptxas) {
    options_.outcomes |= guard.mode != GuardMode::Off;
  }

  Guarded run(Result first) {
    done_.guard.mode = guard_.mode;
    done_.result = std::move(first);
    if (guard_.mode != GuardMode::Off && done_.result.status == Status::Ok && changedAny(done_.result)) judge();
    return {std::move(done_), std::move(options_)};
  }

 private:
  void judge() {
    done_.guard.asked = true;
    done_.guard.architecture = !guard_.architecture.empty() ? guard_.architecture
                               : !options_.architecture.empty()
                                   ? options_.architecture
                                   : ptxas::architectureToAssemble(done_.result.architecture);
    choosePtxasFor();
    leaveFaulty();
    if (!changedAny(done_.result)) return;
    for (const FunctionOutcome& f : done_.result.outcomes)
      if (f.threads != 0 || f.blocks != 0) ptxas_.launches[f.name] = {f.threads, f.blocks};
    figures_.emplace(text_, done_.result.outcomes, done_.guard.architecture, ptxas_, guard_.isWholeCall);
    if (measureBoth()) keepWorse();
    leaveFaulty();  // what a try left out may have hidden a fault
    if (done_.result.output == text_)
      done_.guard.output = std::move(outputBefore_);
    else
      done_.guard.output = figures_->takeOutputOf(done_.result.output);
  }

  void choosePtxasFor() {
    if (guard_.candidates.all.empty()) return;
    const ptxas::PtxasChoice choice = ptxas::choosePtxas(
        guard_.candidates, {ptxas::versionNeededBy(text_), done_.guard.architecture, text_}, ptxas_.cache);
    ptxas_.program = choice.path;
    done_.guard.ptxas = choice.path;
    done_.guard.why = choice.why();
    for (const ptxas::KnownBadHit& hit : choice.knownBad)
      done_.guard.knownBad.push_back(ptxas::warningOf(hit, choice.release));
  }

  // Functions that get a known fault of ptxas by their change (known_bad.h) keep their text: what passes write is right, and
  // still the machine code would be wrong.
  void leaveFaulty() {
    const std::string& output = done_.result.output;
    if (ptxas_.program.empty() ||
        !ptxas::mayHaveTrigger(output, ptxas::versionNeededBy(output), done_.guard.architecture))
      return;
    const ptxas::Release release = ptxas::abilitiesOf(ptxas_.program, ptxas_.cache).release;
    const auto of = [&](std::string_view text) {
      return ptxas::triggersIn(text, release, done_.guard.architecture);
    };
    std::optional<std::vector<ptxas::KnownBadHit>> before;
    for (bool any = true; std::exchange(any, false);) {
      for (const ptxas::KnownBadHit& hit : of(done_.result.output)) {
        if (!before) before = of(text_);
        const auto isIt = [&](const ptxas::KnownBadHit& b) {
          return b.row == hit.row && b.function == hit.function;
        };
        if (std::ranges::any_of(*before, isIt) || !isLeft_.insert(hit.function).second) continue;
        options_.leave.push_back(hit.function);
        done_.guard.kept.push_back({hit.function, "known-bad", std::string(hit.row->name)});
        std::erase_if(done_.guard.retried, [&](const RetriedFunction& r) { return r.name == hit.function; });
        const ptxas::FunctionMeasures* const was = done_.guard.before.find(hit.function);
        const auto is =
            std::ranges::find(done_.guard.after.functions, hit.function, &ptxas::FunctionMeasures::name);
        if (was != nullptr && is != done_.guard.after.functions.end()) *is = *was;
        any = true;
      }
      if (any) done_.result = optimize(text_, options_);
    }
  }

  // Both texts at a time. False when there is nothing to compare.
  bool measureBoth() {
    auto other = std::async(std::launch::async, [&] { return figures_->ofInput(); });
    ptxas::Assembly after = figures_->ofOutput(done_.result);
    ptxas::Assembly before = other.get();
    outputBefore_ = std::move(before.output);
    if (!before) {
      done_.guard.trouble = asOfInput(std::move(before.error), options_.fileName);
      done_.guard.noVerdict = true;
      done_.guard.inputRefused = before.status == ptxas::Assembly::Status::Refused;
      done_.guard.noFolder = before.status == ptxas::Assembly::Status::NoFolder;
      keepAll(kNotJudged);
      return false;
    }
    done_.guard.before = std::move(before.measures);
    return take(std::move(after));
  }

  // The figures of the output. Where there are none although there are some of the input, that is given back.
  bool take(ptxas::Assembly after) {
    if (after) {
      done_.guard.after = std::move(after.measures);
      return true;
    }
    done_.guard.trouble = after.error;
    done_.guard.refused = after.status == ptxas::Assembly::Status::Refused;
    done_.guard.noFolder = after.status == ptxas::Assembly::Status::NoFolder;
    keepAll(done_.guard.refused ? std::string_view("refused") : kNotJudged);
    return false;
  }

  void keepAll(std::string_view reason) {
    done_.guard.retried.clear();  // what is not optimized has no second try
    for (const FunctionOutcome& f : done_.result.outcomes) {
      if (!f.changed) continue;
      options_.leave.push_back(f.name);
      done_.guard.kept.push_back({f.name, std::string(reason), {}});
    }
    done_.result = optimize(text_, options_);
    done_.guard.after = done_.guard.before;
  }

  void keepWorse() {
    for (;;) {
      const cut::CallGraph graph(done_.result.outcomes);
      std::vector<WorseFunction> worse = worseFunctions(done_.guard.before, done_.guard.after, guard_.rule);
      std::erase_if(worse, [&](const WorseFunction& w) { return isUnchangedCopy(w, graph); });
      BitVector isKept(done_.result.outcomes.size());
      const bool anyUnjudged = keepUnjudged(graph, isKept);
      if (worse.empty() && !anyUnjudged) return;
      const std::vector<Taken> taken = tryAgain(worse, graph);
      const bool anyWorse = keep(worse, graph, isKept);
      if (!anyWorse && !anyUnjudged && taken.empty()) return keepAll("together");
      const bool isShared = (!anyWorse && !worse.empty()) || othersReach(worse, graph, isKept);
      const std::vector<FunctionOutcome> outcomes = done_.result.outcomes;
      done_.result = optimize(text_, options_);
      for (const Taken& t : taken)
        for (const std::string& name : t.functions) takeOver(name, t.after);
      if (!isShared) return takeOver(worse, isKept, outcomes);
      if (!changedAny(done_.result)) {
        done_.guard.after = done_.guard.before;
        return;
      }
      if (!take(figures_->ofOutput(done_.result))) return;
    }
  }

  // A function that got worse, as it is better than the input, and the figures of all that it reaches.
  struct Taken {
    std::vector<std::string> functions;
    ptxas::Measures after;
  };

  // Among functions that got worse, those that are better than the input with other options: what is worse no longer
  // has them. Each is tried once in all.
  std::vector<Taken> tryAgain(std::vector<WorseFunction>& worse, const cut::CallGraph& graph) {
    const std::vector<FunctionOutcome>& outcomes = done_.result.outcomes;
    if (guard_.tries == 0 || worse.empty()) return {};
    std::vector<Retry> retries =
        retriesOf(text_, worse, outcomes, graph, options_.knobs, done_.guard.before, done_.guard.after);
    if (isTried_.none()) isTried_ = BitVector(outcomes.size());
    std::erase_if(retries, [&](const Retry& r) { return isTried_.test(r.root); });
    std::vector<Best> best(retries.size());
    const cut::CallGraph after(done_.result.outcomesAfter);
    for (Retry& r : retries) {
      isNew(r, outcomes, text_, graph);
      isNew(r, outcomes, done_.result.output, after);
    }
    std::vector<Attempt> attempts;
    std::vector<Figures::Try> tries;
    while (std::ranges::any_of(retries, [&](const Retry& r) { return mayTry(r); }))
      if (std::optional<Figures::Try> its = nextTry(retries, graph, attempts)) tries.push_back(*std::move(its));
    const std::vector<ptxas::Assembly> made = figures_->ofTries(tries);
    for (std::size_t t = 0; t < tries.size(); ++t)
      if (made[t]) takeBetter(retries, attempts[t], made[t].measures, graph, best);
    std::vector<Taken> taken;
    for (std::size_t r = 0; r < retries.size(); ++r) {
      isTried_.set(retries[r].root);
      if (best[r].with == nullptr) continue;
      Taken& its = taken.emplace_back();
      its.after = std::move(best[r].after);
      for (const uint32_t f : graph.closure(retries[r].root)) its.functions.push_back(outcomes[f].name);
      add(*best[r].with, retries[r], options_);
      const std::string& root = outcomes[retries[r].root].name;
      const auto was = std::ranges::find(worse, root, &WorseFunction::name);
      done_.guard.retried.push_back({root, *best[r].with, std::string(name(best[r].by.by)), best[r].by.text(),
                                     fmt::format("{} {}", name(was->by.by), was->by.text())});
      std::erase_if(worse, [&](const WorseFunction& w) {
        return std::ranges::find(its.functions, w.name) != its.functions.end();
      });
    }
    return taken;
  }

  bool mayTry(const Retry& r) const { return r.tried < guard_.tries && r.next < r.attempts.size(); }

  // Loops are those of the root.
  void add(const FunctionOptions& more, const Retry& retry, Options& options) const {
    for (const uint32_t f : retry.functions) {
      FunctionOptions& its = options.inFunction[done_.result.outcomes[f].name];
      its.skip.insert(its.skip.end(), more.skip.begin(), more.skip.end());
      for (const auto& [knob, value] : more.knobs) its.knobs[knob] = value;
      if (f == retry.root) its.decline.insert(its.decline.end(), more.decline.begin(), more.decline.end());
    }
  }

  // The best result of a function so far.
  struct Best {
    const FunctionOptions* with = nullptr;
    ptxas::Comparison by;
    ptxas::Measures after;  // of what it reaches
  };

  // By retry: what it was tried with; none where it was not.
  using Attempt = std::vector<const FunctionOptions*>;

  // The next attempt of each of these: all that is not tried is as in the input, and is not assembled where it can be
  // cut out. An attempt that makes a text that was seen is not a try. Nothing where no text is new.
  std::optional<Figures::Try> nextTry(std::vector<Retry>& retries, const cut::CallGraph& graph,
                                      std::vector<Attempt>& attempts) const {
    const std::vector<FunctionOutcome>& outcomes = done_.result.outcomes;
    Options options = options_;
    options.report = options.loopRemarks = options.warnUninitialised = options.printAfterAll = false;
    options.printBefore.clear();
    options.printAfter.clear();
    BitVector isLeft = cut::functionsThat(outcomes, &FunctionOutcome::changed);
    Attempt with(retries.size());
    for (std::size_t r = 0; r < retries.size(); ++r) {
      if (!mayTry(retries[r])) continue;
      with[r] = &retries[r].attempts[retries[r].next++];
      for (const uint32_t f : retries[r].functions) isLeft.reset(f);
      add(*with[r], retries[r], options);
    }
    isLeft.forEach([&](std::size_t f) { options.leave.push_back(outcomes[f].name); });
    Figures::Try its{optimize(text_, options), {}};
    if (its.result.status != Status::Ok || !changedAny(its.result)) return std::nullopt;
    const std::vector<FunctionOutcome>& functions = its.result.outcomesAfter;
    const cut::CallGraph places(functions);
    its.isTried = BitVector(functions.size());
    for (std::size_t r = 0; r < retries.size(); ++r) {
      if (with[r] == nullptr) continue;
      if (!isNew(retries[r], outcomes, its.result.output, places)) {
        with[r] = nullptr;
        continue;
      }
      ++retries[r].tried;
      for (const uint32_t f : graph.closure(retries[r].root))
        if (const uint32_t at = places.indexOf(outcomes[f].name); at != cut::CallGraph::kNone) its.isTried.set(at);
    }
    if (its.isTried.none()) return std::nullopt;
    attempts.push_back(std::move(with));
    return its;
  }

  // What is better than the best so far, of what was tried.
  void takeBetter(const std::vector<Retry>& retries, const Attempt& with, const ptxas::Measures& after,
                  const cut::CallGraph& graph, std::vector<Best>& best) const {
    const std::vector<FunctionOutcome>& outcomes = done_.result.outcomes;
    for (std::size_t r = 0; r < retries.size(); ++r) {
      if (with[r] == nullptr) continue;
      const std::string& root = outcomes[retries[r].root].name;
      const std::vector<uint32_t> closure = graph.closure(retries[r].root);
      const auto by = gainOf(closure, retries[r].root, outcomes, done_.guard.before, after, guard_.rule);
      if (!by || (best[r].with != nullptr &&
                  !isPreferred(*done_.guard.before.find(root), *best[r].after.find(root), *after.find(root))))
        continue;
      best[r] = {with[r], *by, {}};
      for (const uint32_t f : closure)
        if (const ptxas::FunctionMeasures* const m = after.find(outcomes[f].name))
          best[r].after.functions.push_back(*m);
      std::ranges::sort(best[r].after.functions, {}, &ptxas::FunctionMeasures::name);
    }
  }

  // Whether this is a function whose code is part of several kernels', and that was not changed, nor what it reaches.
  // Its figures are those of one copy: which one depends on what was assembled. These kernels are compared themselves.
  bool isUnchangedCopy(const WorseFunction& w, const cut::CallGraph& graph) const {
    const auto& outcomes = done_.result.outcomes;
    const ptxas::FunctionMeasures* const after = done_.guard.after.find(w.name);
    const uint32_t root = graph.indexOf(w.name);
    if (after == nullptr || root == cut::CallGraph::kNone || after->isKernel || after->instructions != 0)
      return false;
    if (std::ranges::any_of(graph.closure(root), [&](uint32_t f) { return outcomes[f].changed; })) return false;
    return graph.kernelsThatReach(root) > 1;
  }

  enum class Verdict : uint8_t {
    Known,
    NoCode,    // of a function that is not a kernel: it may be part of other code
    Doubtful,  // of a kernel whose figures are not there, or not those that are compared first
  };
  Verdict verdictOn(const FunctionOutcome& f) const {
    const ptxas::FunctionMeasures* const before = done_.guard.before.find(f.name);
    const ptxas::FunctionMeasures* const after = done_.guard.after.find(f.name);
    if (before != nullptr && after == nullptr) return Verdict::Known;  // code that is gone has a reason of its own
    if (before == nullptr || after == nullptr) return f.isKernel ? Verdict::Doubtful : Verdict::NoCode;
    if (!f.isKernel || (!before->code.empty() && before->code == after->code)) return Verdict::Known;
    const bool haveSpills = value(*before, ptxas::Measure::Spills) && value(*after, ptxas::Measure::Spills);
    return haveSpills ? Verdict::Known : Verdict::Doubtful;
  }

  // Marks what was changed and is part of a kernel without a verdict, or of no code at all. False when there is nothing.
  bool keepUnjudged(const cut::CallGraph& graph, BitVector& isKept) {
    const auto& outcomes = done_.result.outcomes;
    BitVector known(outcomes.size()), doubtful(outcomes.size());
    for (std::size_t f = 0; f < outcomes.size(); ++f) {
      const Verdict verdict = verdictOn(outcomes[f]);
      if (verdict == Verdict::Known || (verdict == Verdict::NoCode && guard_.isWholeCall)) known.set(f);
      if (verdict == Verdict::Doubtful) doubtful.set(f);
    }
    BitVector unjudged = cut::functionsThat(outcomes, &FunctionOutcome::changed);
    unjudged.andNot(graph.reachedFrom(known).andNot(graph.reachedFrom(doubtful)));
    unjudged.forEach([&](std::size_t f) {
      options_.leave.push_back(outcomes[f].name);
      done_.guard.kept.push_back({outcomes[f].name, std::string(kNotJudged), {}});
    });
    isKept |= unjudged;
    return !unjudged.none();
  }

  // Marks what these reach and was changed. False when there is nothing: they got worse without having changed.
  bool keep(const std::vector<WorseFunction>& worse, const cut::CallGraph& graph, BitVector& isKept) {
    bool any = false;
    for (const WorseFunction& w : worse) {
      const uint32_t root = graph.indexOf(w.name);
      if (root == cut::CallGraph::kNone) continue;
      for (const uint32_t f : graph.closure(root)) {
        const FunctionOutcome& outcome = done_.result.outcomes[f];
        if (!outcome.changed || isKept.test(f)) continue;
        isKept.set(f);
        any = true;
        options_.leave.push_back(outcome.name);
        std::erase_if(done_.guard.retried, [&](const RetriedFunction& r) { return r.name == outcome.name; });
        if (f != root)
          done_.guard.kept.push_back({outcome.name, "called-by", w.name});
        else if (w.missing)
          done_.guard.kept.push_back({outcome.name, "missing", {}});
        else
          done_.guard.kept.push_back({outcome.name, std::string(name(w.by.by)), w.by.text()});
      }
    }
    return any;
  }

  // Whether the machine code of a function that is not worse may change again by what is kept now.
  bool othersReach(const std::vector<WorseFunction>& worse, const cut::CallGraph& graph,
                   const BitVector& isKept) const {
    BitVector known = isKept;  // worse or kept
    for (const WorseFunction& w : worse)
      if (const uint32_t f = graph.indexOf(w.name); f != cut::CallGraph::kNone) known.set(f);
    return !graph.whoReach(isKept).isSubsetOf(known);
  }

  // What is worse or kept has the figures of the input now, and nothing else has changed.
  void takeOver(const std::vector<WorseFunction>& worse, const BitVector& isKept,
                const std::vector<FunctionOutcome>& outcomes) {
    for (const WorseFunction& w : worse) takeOver(w.name, done_.guard.before);
    isKept.forEach([&](std::size_t f) { takeOver(outcomes[f].name, done_.guard.before); });
  }

  void takeOver(const std::string& name, const ptxas::Measures& from) {
    const ptxas::FunctionMeasures* const figures = from.find(name);
    auto& functions = done_.guard.after.functions;
    const auto at =
        std::lower_bound(functions.begin(), functions.end(), name,
                         [](const ptxas::FunctionMeasures& f, const std::string& n) { return f.name < n; });
    if (figures == nullptr) {
      if (at != functions.end() && at->name == name) functions.erase(at);
      return;
    }
    if (at != functions.end() && at->name == name)
      *at = *figures;
    else
      functions.insert(at, *figures);
  }

  const std::string_view text_;
  Options options_;
  const GuardOptions& guard_;
  ptxas::PtxasSettings ptxas_;
  std::optional<Figures> figures_;
  std::optional<ptxas::PtxasOutput> outputBefore_;
  std::set<std::string> isLeft_;  // since ptxas has a known fault
  BitVector isTried_;             // functions that were tried again; empty: none
  GuardedResult done_;
};

}  // namespace

std::string_view name(GuardMode mode) { return mode == GuardMode::Ptxas ? "ptxas" : "off"; }

Guarded judged(std::string_view text, const Options& options, const GuardOptions& guard, Result first) {
  return Guard(text, options, guard).run(std::move(first));
}

GuardedResult optimizeGuarded(std::string_view text, const Options& options, const GuardOptions& guard) {
  const auto other = withoutFaults(text, options, guard);
  GuardedResult done = judgedWithProfile(other ? other->text : text, options, guard);
  if (other) done.guard.avoided = other->lines;
  if (!done.result.reportJson.empty() && guard.mode != GuardMode::Off)
    addGuardReport(done.result.reportJson, done.guard);
  return done;
}

}  // namespace ptxopt::guard
