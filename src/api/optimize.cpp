// The pipeline: parse, remarks, passes on each function, print, report.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <utility>

#include "analysis/addresses/address_facts.h"
#include "analysis/machine/kernel_needs.h"
#include "api/outcomes.h"
#include "api/remarks.h"
#include "api/report.h"
#include "ir/verify.h"
#include "passes/inline/call_bodies.h"
#include "passes/manager/pass.h"
#include "passes/manager/pipeline.h"
#include "ptxopt/ptxopt.h"
#include "support/parallel.h"
#include "text/parse.h"
#include "text/print.h"

namespace ptxopt {
namespace {

double threadSeconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

struct Plan {
  std::vector<Step> steps;
  Knobs knobs;
  std::string error;
};

// sm_80, sm_90a, sm_100f
bool isArchitecture(std::string_view text) {
  if (!text.starts_with("sm_")) return false;
  text.remove_prefix(3);
  if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
  return !text.empty() && text.size() <= 4 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Plan makePlan(const Options& options) {
  Plan plan;
  if (!options.architecture.empty() && !isArchitecture(options.architecture))
    plan.error = fmt::format("'{}' is no architecture; they are spelled sm_90 or sm_90a", options.architecture);
  if (options.level < 0 || options.level > 2) plan.error = fmt::format("there is no level -O{}", options.level);
  const PipelineChoice choice{
      .level = options.level, .passes = options.passes ? &*options.passes : nullptr, .skip = options.skip};
  plan.steps = makePipeline(choice, options.printAfter, plan.error);
  for (const auto& [name, value] : options.knobs)
    if (std::string error = plan.knobs.set(name, value); !error.empty()) plan.error = std::move(error);
  return plan;
}

uint64_t countInstructions(const Function& f) {
  uint64_t n = 0;
  for (const InstrId id : f) n += f[id].isInstruction();
  return n;
}

uint64_t countNames(const Function& f) {
  std::vector<bool> isMentioned(f.registers.size());
  uint64_t n = 0;
  for (const InstrId id : f)
    for (const Operand& o : f.operandsOf(f[id])) {
      if (!o.isRegister() || o.reg() == Function::kCarry || isMentioned[o.payload]) continue;
      isMentioned[o.payload] = true;
      ++n;
    }
  return n;
}

// Why no pass may touch the module, if so.
std::optional<Remark> wholeModuleDecline(const Module& module) {
  if (module.isDebug)
    return Remark{"debug-module", module.fileName,
                  "compiled for debugging: its DWARF names registers, so it is left as it is"};
  if (module.hasModuleRegisters)
    return Remark{"module-registers", module.fileName, "declares registers outside functions; it is left as it is"};
  return std::nullopt;
}

// What a check that was asked for finds wrong after a pass; empty: nothing.
std::string check(const Module& module, const Function& f, const Options& options, Analyses& analyses) {
  std::string error;
  if (options.verifyEach) error = verify(module, f);
  if (error.empty() && options.verifyAnalyses)
    if (const std::string_view name = analyses.stale(); !name.empty())
      error = fmt::format("the {} that was kept is not that of the function", name);
  return error;
}

// Runs the pipeline on one function. What goes wrong inside ptxopt comes back in `error`.
void runPasses(const Module& module, Function& f, const Plan& plan, const Options& options, Analyses& analyses,
               FunctionReport& report) {
  std::size_t changes = 0;                        // passes that changed the function so far
  std::map<const PassInfo*, std::size_t> doneAt;  // of passes that need not run again: `changes` after the last run
  bool tidies = plan.knobs["tidy"] != 0;
  report.passes.reserve(plan.steps.size());  // there may be very many functions
  for (const Step& step : plan.steps) {
    PassReport& passReport = report.passes.emplace_back();
    passReport.pass = step.name;
    const auto done = doneAt.find(step.pass);
    if ((step.kind == StepKind::Tidy && !tidies) || (done != doneAt.end() && done->second == changes)) {
      passReport.skipped = true;
    } else {
      if (options.verifyAnalyses) analyses.makeAll();
      if (plan.knobs["early-live-intervals"] != 0 && analyses.cfg().complete()) analyses.liveIntervals();
      if (plan.knobs["dump-before-cssa"] != 0 && step.pass->name == "cssa-coalesce")
        report.dumps +=
            fmt::format("// {} before {}\n{}", module.text(f.name), step.name, printFunction(module, f));
      PassContext context{module, plan.knobs, analyses, passReport, options.architecture};
      const double start = threadSeconds();
      passReport.changed = step.pass->run(f, context);
      passReport.seconds = threadSeconds() - start;
      changes += passReport.changed;
      tidies |= passReport.changed && step.kind == StepKind::Copies;
      if (step.pass->again == Again::Useless) doneAt[step.pass] = changes;
      if (passReport.changed) analyses.invalidate(step.pass->preserves);
      std::string error = std::move(context.error);
      if (error.empty()) error = check(module, f, options, analyses);
      if (!error.empty()) {
        report.error = fmt::format("after {}: {}", step.name, error);
        return;
      }
    }
    if (options.printAfterAll || isNamed(step, options.printAfter))
      report.dumps += fmt::format("// {} after {}\n{}", module.text(f.name), step.name, printFunction(module, f));
  }
}

// As many as functions, at most, and as cores: this is all computation.
unsigned threadsFor(unsigned jobs, std::size_t functions) {
  if (jobs == 1 || functions < 2) return 1;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  return jobs == 0 ? cores : std::min(jobs, cores);
}

Result fail(Status status, std::string message) {
  Result result;
  result.status = status;
  result.error = std::move(message);
  return result;
}

}  // namespace

Result optimize(std::string_view text, const Options& options) {
  const Plan plan = makePlan(options);
  if (!plan.error.empty()) return fail(Status::Usage, plan.error + "\n");

  Result result;
  double start = threadSeconds();
  auto parsed = parse(text, options.fileName);
  result.parseSeconds = threadSeconds() - start;
  if (const auto* error = std::get_if<ParseError>(&parsed))
    return fail(Status::InvalidInput, render(*error, options.fileName));
  Module& module = *std::get<0>(parsed);
  result.architecture = options.architecture.empty() ? std::string(module.architecture()) : options.architecture;
  if (options.verifyEach)
    if (const std::string error = verify(module); !error.empty())
      return fail(Status::Internal, fmt::format("{}: internal error after parsing: {}\n", options.fileName, error));

  remarkUnknownOpcodes(module, result.remarks);
  std::optional<Remark> decline;
  if (!plan.steps.empty()) decline = wholeModuleDecline(module);
  if (decline) result.remarks.push_back(*decline);

  if (!decline && !plan.steps.empty()) {
    module.makeSynthParts();
    makeCalledNeeds(module);
  }
  const auto inlines = [](const Step& step) { return step.pass->name == "inline-calls"; };
  if (!decline && std::ranges::any_of(plan.steps, inlines)) makeCallBodies(module, plan.knobs);
  const auto asksForSpaces = [](const Step& step) {
    return step.pass->name == "infer-address-space" || step.pass->name == "drop-broadcasts";
  };
  if (!decline && std::ranges::any_of(plan.steps, asksForSpaces))
    makeAddressFacts(module, plan.knobs["assume-param-global"] != 0);

  if (options.outcomes) result.outcomes = outcomesOf(module);
  const std::unordered_set<std::string_view> leave(options.leave.begin(), options.leave.end());
  const bool warns = options.report || options.warnUninitialised;
  std::vector<std::vector<UninitialisedRegister>> uninitialised(warns ? module.functions.size() : 0);
  std::vector<FunctionReport> reports(module.functions.size());
  std::mutex mutex;  // of result.passes
  const std::size_t functions = module.functions.size();
  inParallel(threadsFor(options.jobs, functions), functions, [&](std::size_t i) {
    Function& f = module.functions[i];
    if (!f.hasBody) return;
    reports[i].instructions = countInstructions(f);
    if (options.report) reports[i].names = countNames(f);
    Analyses analyses(module, f, plan.knobs);
    if (warns) {
      bool tooLarge = false;
      uninitialised[i] = findUninitialised(module, f, plan.knobs, analyses, tooLarge);
      reports[i].uninitialisedUnknown = tooLarge;
    }
    if (!decline && !leave.contains(module.text(f.name))) runPasses(module, f, plan, options, analyses, reports[i]);
    reports[i].instructionsAfter = countInstructions(f);
    if (options.report) {
      reports[i].namesAfter = countNames(f);
    } else if (isQuiet(reports[i])) {
      const std::lock_guard lock(mutex);
      addUp(std::exchange(reports[i].passes, {}), result.passes);
    }
  });
  for (const FunctionReport& report : reports)
    if (!report.error.empty())
      return fail(Status::Internal, fmt::format("{}: internal error {}\n", options.fileName, report.error));

  noteChanges(module, result.outcomes);
  remarkUninitialised(module, uninitialised, result.remarks);
  if (options.loopRemarks) remarkLoops(module, reports, result.remarks);
  summarize(module, options, reports, result);
  start = threadSeconds();
  const bool keepAll = decline && !options.reprint;
  // The byte order mark is not part of the module.
  const std::string_view mark = text.substr(0, text.size() - module.source.size());
  if (!options.reprint) result.output = mark;
  std::vector<std::size_t> functionBytes;
  result.output += keepAll ? std::string(module.source)
                           : print(module, {.reprint = options.reprint, .functionBytes = &functionBytes});
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const SourceRange source = module.functions[i].source;
    reports[i].bytes = reports[i].bytesAfter = source.end - source.begin;
    if (!keepAll) reports[i].bytesAfter = functionBytes[i];
  }
  result.printSeconds = threadSeconds() - start;
  if (options.report) result.reportJson = reportJson(module, options, reports, result);
  return result;
}

std::vector<PassDescription> describePasses() {
  std::vector<PassDescription> all;
  for (const PassInfo& p : passTable()) all.push_back({p.name, p.summary, levelOf(p.name)});
  return all;
}

std::vector<KnobDescription> describeKnobs() {
  std::vector<KnobDescription> all;
  for (const KnobInfo& k : knobTable())
    all.push_back({k.name, k.summary, k.defaultValue, k.least, k.most, k.values, knobValueName(k, k.defaultValue)});
  return all;
}

std::vector<OpcodeDescription> describeOpcodes() {
  std::vector<OpcodeDescription> all;
  for (const OpcodeRow& row : opcodeTable())
    all.push_back({row.key, row.operands, effectNames(row.effects), row.summary});
  return all;
}

std::string_view version() { return PTXOPT_VERSION; }

}  // namespace ptxopt
