// Steps are cut into segments at module passes with work; each segment runs function by function in parallel, with the
// analyses kept within it. A pass that changed nothing since its last run is skipped.
#include "api/pipeline_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "ir/shrink.h"
#include "ir/stored_numbers.h"
#include "ir/verify.h"
#include "passes/util/same_code.h"
#include "support/log.h"
#include "support/parallel.h"
#include "support/thread_time.h"
#include "text/print.h"

namespace ptxopt {
namespace {

// What a pass did to a function, and what it left and why.
std::string decisionsOf(std::string_view function, const PassReport& report) {
  std::string out = fmt::format("{}: {}: {}", function, report.pass, report.changed ? "changed" : "not changed");
  for (const auto& [counter, count] : report.counters) out += fmt::format(", {} {}", count, counter);
  for (const Decline& decline : report.declines)
    out += fmt::format("; {} [{}]", decline.detail.empty() ? "left" : decline.detail, decline.reason);
  return out;
}

}  // namespace

PipelineRun::PipelineRun(Module& module, const Plan& plan, const Options& options,
                         std::function<bool(const Function&)> mayChange)
    : module_(module),
      plan_(plan),
      options_(options),
      mayChange_(std::move(mayChange)),
      threads_(threadsFor(options.jobs)) {}

bool PipelineRun::divides(const Step& step) const {
  return step.pass->runOnModule != nullptr && step.pass->hasWork(module_, analyses_);
}

std::span<const Step> PipelineRun::nextSegment(std::span<const Step> left) const {
  const auto end = std::ranges::find_if(left, [&](const Step& step) { return divides(step); });
  return left.first(static_cast<std::size_t>(end - left.begin()));
}

void PipelineRun::run(std::vector<FunctionReport>& reports, const Visit& before, const Visit& after) {
  const std::size_t functions = module_.functions.size();
  std::span<const Step> left = plan_.steps;
  if (std::ranges::none_of(module_.functions, mayChange_)) left = {};
  if (!left.empty()) {
    module_.makeSynthParts();
    ModuleFactSet facts;
    for (const Step& step : left) facts |= step.pass->needs;
    makeModuleFacts(module_, plan_.knobs, facts, analyses_);
  }
  const bool isDivided = std::ranges::any_of(left, [&](const Step& step) { return divides(step); });
  std::vector<Progress> progress(isDivided ? functions : 0);  // there may be very many functions
  std::atomic<std::size_t> done = 0;
  const auto bodies = static_cast<std::size_t>(std::ranges::count_if(module_.functions, &Function::hasBody));
  for (bool isFirst = true, isLast = false; !isLast; isFirst = false) {
    const std::span<const Step> segment = nextSegment(left);
    left = left.subspan(segment.size());
    isLast = left.empty();
    versions_.resize(module_.versions.size());
    progress.resize(isDivided ? functions + versions_.size() : 0);
    inParallel(threads_, functions + versions_.size(), [&](std::size_t i) {
      if (i >= functions) return runVersion(segment, i - functions, progress[i]);
      Function& f = module_.functions[i];
      if (!f.hasBody) return;
      Analyses analyses(module_, f, livenessLimits(plan_.knobs));
      if (log::isEnabled(log::Level::Debug)) analyses.noteMade();
      if (options_.times) analyses.measureTime();
      if (isFirst) before(f, analyses, reports[i]);
      Progress own;
      Progress& itsProgress = isDivided ? progress[i] : own;
      if (mayChange_(f)) runSteps(segment, f, analyses, itsProgress, reports[i]);
      if (isLast && keepsText(itsProgress)) f.changed = false;
      if (isLast) {
        after(f, analyses, reports[i]);
        shrinkToFit(f);  // while the rest is worked on and the text is printed
      }
      reports[i].analysisSeconds += analyses.seconds();
      if (const std::string made = analyses.made(); !made.empty())
        log::debug(log::kAnalyses, [&] { return fmt::format("{}: made {}", module_.text(f.name), made); });
      if (isLast && options_.progress) options_.progress(++done, bodies);
    });
    if (isLast) return reportVersions(reports);
    runModulePass(left.front(), progress, reports);
    left = left.subspan(1);
  }
}

void PipelineRun::runVersion(std::span<const Step> steps, std::size_t version, Progress& progress) {
  Function& body = module_.versions[version].body;
  Analyses analyses(module_, body, livenessLimits(plan_.knobs));
  if (options_.times) analyses.measureTime();
  runSteps(steps, body, analyses, progress, versions_[version]);
  versions_[version].analysisSeconds += analyses.seconds();
}

void PipelineRun::reportVersions(std::vector<FunctionReport>& reports) {
  for (std::size_t k = 0; k < versions_.size(); ++k) {
    FunctionReport &its = versions_[k], &to = reports[module_.versions[k].body.index];
    if (to.error.empty()) to.error = std::move(its.error);
    to.dumps += its.dumps;
    to.analysisSeconds += its.analysisSeconds;
    for (const PassReport& done : its.passes) {
      const auto same = std::ranges::find(to.passes, done.pass, &PassReport::pass);
      if (same == to.passes.end()) continue;
      same->seconds += done.seconds;
      if (!module_.versions[k].isJoined) continue;
      same->changed |= done.changed;
      for (const auto& [counter, n] : done.counters) same->counters[counter] += n;
    }
  }
}

void PipelineRun::runSteps(std::span<const Step> steps, Function& f, Analyses& analyses, Progress& progress,
                           FunctionReport& report) const {
  report.passes.reserve(plan_.steps.size());
  for (const Step& step : steps)
    if (!report.error.empty() || !runStep(step, f, analyses, progress, report)) return;
}

bool PipelineRun::isSkippedIn(const Step& step, const Function& f) const {
  if (options_.inFunction.empty()) return false;
  const auto its = options_.inFunction.find(std::string(module_.text(f.name)));
  return its != options_.inFunction.end() && isNamed(step, its->second.skip);
}

const Knobs& PipelineRun::knobsOf(const Function& f) const {
  if (plan_.knobsIn.empty()) return plan_.knobs;
  const auto its = plan_.knobsIn.find(std::string(module_.text(f.name)));
  return its == plan_.knobsIn.end() ? plan_.knobs : its->second;
}

bool PipelineRun::isDone(const Step& step, const Progress& progress) {
  const auto done = progress.doneAt.find(step.pass);
  return done != progress.doneAt.end() && done->second == progress.changes;
}

// A step of `progress` that has run.
void PipelineRun::note(const Step& step, const PassReport& report, Progress& progress) {
  if (!report.changed) return;
  ++progress.changes;
  progress.changedCode |= step.kind != StepKind::Cleanup && !hasSameCode(report);
}

// Whether the text that was given is as good as what became of it: ptxas makes the same of both, and nobody reads it.
bool PipelineRun::keepsText(const Progress& progress) const {
  return plan_.knobs[Knob::Tidy] == 0 && !options_.passes && !options_.reprint && progress.changes != 0 &&
         !progress.changedCode;
}

bool PipelineRun::hasManyIterations(const Function& f) const {
  const KernelFacts* const facts = module_.factsOf(f);
  return facts != nullptr && facts->mayIterate(kManyIterations);
}

bool PipelineRun::runStep(const Step& step, Function& f, Analyses& analyses, Progress& progress,
                          FunctionReport& report) const {
  PassReport& passReport = report.passes.emplace_back();
  passReport.pass = step.name;
  std::string error;
  if (isSkippedIn(step, f) || isDone(step, progress) ||
      (step.kind == StepKind::ManyIterations && !hasManyIterations(f))) {
    passReport.skipped = true;
  } else if (step.pass->run != nullptr) {
    dump("before", step, f, report);
    if (options_.verifyAnalyses) analyses.makeAll();
    if (plan_.knobs[Knob::EarlyLiveIntervals] != 0 && analyses.cfg().complete()) analyses.liveIntervals();
    PassContext context{module_, knobsOf(f), analyses, analyses_, passReport, options_.architecture};
    context.describesLoops = options_.report || options_.loopRemarks;
    if (step.pass->declines != Declines::Whole)
      declineBlocks(f, *step.pass, plan_.declines.of(f, *step.pass), context);
    analyses.takeAsked();
    const ThreadWatch watch(options_.times);
    passReport.changed = step.pass->run(f, context);
    passReport.seconds = watch.seconds();
    const AnalysisSet asked = analyses.takeAsked();
    log::trace(log::kAnalyses,
               [&] { return fmt::format("{}: {}: asked for {}", module_.text(f.name), step.name, names(asked)); });
    note(step, passReport, progress);
    log::trace(log::kPasses, [&] { return decisionsOf(module_.text(f.name), passReport); });
    if (step.pass->again == Again::Idempotent) progress.doneAt[step.pass] = progress.changes;
    if (passReport.changed) analyses.invalidate(step.pass->preserves | context.preserved);
    error = std::move(context.error);
    if (error.empty()) error = check(f, analyses);
    if (error.empty() && options_.verifyAnalyses && !withUses(step.pass->asks).includes(asked))
      error = fmt::format("it asked for {}, and its row in passes.def names {}: add {} to asks(...) there",
                          names(asked), names(step.pass->asks), idsToAdd(asked, step.pass->asks));
  }
  return finish(step, f, std::move(error), report);
}

void PipelineRun::runModulePass(const Step& step, std::vector<Progress>& progress,
                                std::vector<FunctionReport>& reports) {
  ModulePassContext context{
      plan_.knobs,
      analyses_,
      options_.architecture.empty() ? module_.architecture() : std::string_view(options_.architecture),
      {}};
  context.forEachFunction = [&](const std::function<bool(Function&, PassReport&)>& work) {
    inParallel(threads_, module_.functions.size(), [&](std::size_t i) {
      Function& f = module_.functions[i];
      if (!f.hasBody || !mayChange_(f) || !reports[i].error.empty()) return;
      PassReport& passReport = reports[i].passes.emplace_back();
      passReport.pass = step.name;
      if (isSkippedIn(step, f) || isDone(step, progress[i])) {
        passReport.skipped = true;
      } else {
        dump("before", step, f, reports[i]);
        const ThreadWatch watch(options_.times);
        passReport.changed = work(f, passReport);
        passReport.seconds = watch.seconds();
        log::trace(log::kPasses, [&] { return decisionsOf(module_.text(f.name), passReport); });
        note(step, passReport, progress[i]);
        progress[i].doneAt[step.pass] = progress[i].changes;
      }
      finish(step, f, checkFunction(f), reports[i]);
    });
  };
  step.pass->runOnModule(module_, context);
}

// What a check that was asked for finds wrong after a pass; empty: nothing.
std::string PipelineRun::check(const Function& f, const Analyses& analyses) const {
  std::string error = checkFunction(f);
  if (error.empty() && options_.verifyAnalyses)
    if (const std::string_view name = analyses.stale(); !name.empty())
      error = fmt::format("the {} that was kept is not that of the function", name);
  return error;
}

// For --verify-each: the invariants, and that no pass has made a store that keeps every pass away.
std::string PipelineRun::checkFunction(const Function& f) const {
  if (!options_.verifyEach) return {};
  std::string error = verify(module_, f);
  if (error.empty() && findNarrowNumberStore(module_, f).valid())
    error = "a store narrower than its register may store a number (ir/stored_numbers.h)";
  return error;
}

bool PipelineRun::finish(const Step& step, const Function& f, std::string error, FunctionReport& report) const {
  if (!error.empty()) {
    report.error = fmt::format("after {}: {}", step.name, error);
    return false;
  }
  dump("after", step, f, report);
  return true;
}

void PipelineRun::dump(std::string_view when, const Step& step, const Function& f, FunctionReport& report) const {
  const bool isBefore = when == "before";
  if (isBefore ? !isNamed(step, options_.printBefore)
               : !options_.printAfterAll && !isNamed(step, options_.printAfter))
    return;
  const std::string body = f.version == 0 ? std::string() : fmt::format(" body {}", f.version);
  report.dumps += fmt::format("// {}{} {} {}\n{}", module_.text(f.name), body, when, step.name,
                              text::printFunction(module_, f));
}

}  // namespace ptxopt
