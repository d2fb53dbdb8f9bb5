// The pipeline: parse, remarks, passes on each function, print, report.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <unordered_set>
#include <utility>

#include "api/outcomes.h"
#include "api/pipeline_run.h"
#include "api/remarks.h"
#include "api/report.h"
#include "facts/facts.h"
#include "ir/verify.h"
#include "profile/profile.h"
#include "ptxopt/ptxopt.h"
#include "support/thread_time.h"
#include "target/target.h"
#include "text/parse.h"
#include "text/print.h"

namespace ptxopt {
namespace {

constexpr int kHighestLevel = 2;
constexpr int kHighestLevelNamed = 3;  // of ptxas: there it is the usual one
constexpr const char* kLevelTaken = "-O3 is taken as -O2, the highest level";

void setKnobs(const std::map<std::string, int64_t>& values, Knobs& knobs, std::string& wrong) {
  std::map<const KnobInfo*, std::string> named;
  for (const auto& [name, value] : values) {
    if (std::string error = knobs.set(name, value); !error.empty()) wrong = std::move(error);
    const auto [first, isNew] = named.try_emplace(findKnob(name).knob, name);
    if (!isNew && first->first != nullptr) wrong = fmt::format("{} excludes {}", first->second, name);
  }
}

Plan makePlan(const Options& options) {
  Plan plan;
  if (!options.architecture.empty()) plan.error = target::whyNoTarget(options.architecture);
  if (options.level < 0 || options.level > kHighestLevelNamed)
    plan.error = fmt::format("there is no level -O{}", options.level);
  const PipelineChoice choice{.level = std::min(options.level, kHighestLevel),
                              .passes = options.passes ? &*options.passes : nullptr,
                              .skip = options.skip};
  std::vector<std::string> alsoNamed = options.printAfter;
  alsoNamed.insert(alsoNamed.end(), options.printBefore.begin(), options.printBefore.end());
  for (const auto& [function, its] : options.inFunction)
    alsoNamed.insert(alsoNamed.end(), its.skip.begin(), its.skip.end());
  plan.steps = makePipeline(choice, alsoNamed, plan.error);
  if (std::string wrong = plan.declines.read(options); !wrong.empty()) plan.error = std::move(wrong);
  setKnobs(options.knobs, plan.knobs, plan.error);
  for (const auto& [function, its] : options.inFunction)
    if (!its.knobs.empty())
      setKnobs(its.knobs, plan.knobsIn.emplace(function, plan.knobs).first->second, plan.error);
  return plan;
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

// What of a profile was used, in a line.
std::string profileRemark(const profile::Match& match, const std::string& name) {
  constexpr std::size_t kShown = 3;
  std::string text = fmt::format("{} says of {} kernel{}", name, match.kernels, match.kernels == 1 ? "" : "s");
  const std::size_t others = match.unmatched.size();
  if (others == 0) return text;
  const auto shown = std::span(match.unmatched).first(std::min(others, kShown));
  return text + fmt::format("; {} more that it has are not in the text: {}{}", others, fmt::join(shown, ", "),
                            others > kShown ? ", ..." : "");
}

Result fail(Status status, std::string message) {
  Result result;
  result.status = status;
  result.error = std::move(message);
  return result;
}

}  // namespace

Result optimize(std::string_view text, const Options& options) {
  Plan plan = makePlan(options);
  if (!plan.error.empty()) return fail(Status::Usage, plan.error + "\n");

  Result result;
  const ThreadWatch parseWatch(options.times);
  auto parsed = text::parse(text, options.fileName, options.optixExternals, options.jobs);
  result.parseSeconds = parseWatch.seconds();
  if (const auto* error = std::get_if<text::ParseError>(&parsed))
    return fail(Status::InvalidInput, text::render(*error, options.fileName));
  Module& module = *std::get<0>(parsed);
  result.architecture = options.architecture.empty() ? std::string(module.architecture()) : options.architecture;
  if (options.verifyEach)
    if (const std::string error = verify(module); !error.empty())
      return fail(Status::Internal, fmt::format("{}: internal error after parsing: {}\n", options.fileName, error));

  std::vector<std::string> ofOthers;
  if (const std::string error =
          facts::readFacts(options.facts, options.factsName, module, options.factsOfSeveral ? &ofOthers : nullptr);
      !error.empty())
    return fail(Status::Usage, error + "\n");
  for (const std::string& pattern : ofOthers)
    result.remarks.push_back({"facts-of-others", options.factsName,
                              fmt::format("no kernel of {} matches '{}'", options.fileName, pattern)});
  if (!options.facts.empty())
    if (const auto n =
            std::ranges::count_if(module.functions, [&](const Function& f) { return facts::hasFacts(module, f); });
        n != 0)
      result.remarks.push_back({"facts", options.fileName,
                                fmt::format("{} says of {} kernel{}", options.factsName, n, n == 1 ? "" : "s")});
  profile::Match match;
  const auto usesProfile = [&](const Function& f) {
    const auto its = options.inFunction.find(std::string(module.text(f.name)));
    return its == options.inFunction.end() || its->second.usesProfile;
  };
  if (const std::string error = profile::read(options.profile, options.profileName, module, &match, usesProfile);
      !error.empty())
    return fail(Status::Usage, error + "\n");
  if (!options.profile.empty())
    result.remarks.push_back({"profile", options.fileName, profileRemark(match, options.profileName)});

  if (const std::string error = plan.declines.resolve(module); !error.empty())
    return fail(Status::Usage, fmt::format("{}: {}\n", options.fileName, error));

  remarkUnknownOpcodes(module, result.remarks);
  if (options.level > kHighestLevel) result.remarks.push_back({"level", options.fileName, kLevelTaken});
  std::optional<Remark> decline;
  if (!plan.steps.empty()) decline = wholeModuleDecline(module);
  if (decline) result.remarks.push_back(*decline);
  std::vector<bool> storesNumber(module.functions.size());
  if (!plan.steps.empty() && !decline) storesNumber = remarkNarrowNumberStores(module, result.remarks);

  if (options.outcomes) result.outcomes = outcomesOf(module);
  const std::unordered_set<std::string_view> leave(options.leave.begin(), options.leave.end());
  const bool warns = options.report || options.warnUninitialised;
  std::vector<std::vector<UninitialisedRegister>> uninitialised(warns ? module.functions.size() : 0);
  std::vector<FunctionReport> reports(module.functions.size());
  std::mutex mutex;  // of result.passes
  const auto before = [&](Function& f, Analyses& analyses, FunctionReport& report) {
    report.instructions = f.countInstructions();
    if (options.report) report.names = countNames(f);
    if (warns)
      uninitialised[f.index] = findUninitialised(module, f, plan.knobs, analyses, report.uninitialisedUnknown);
  };
  const auto after = [&](Function& f, Analyses&, FunctionReport& report) {
    // For the text that it keeps, also where the representation has changed since.
    const bool isOther = f.changed || options.reprint;
    report.instructionsAfter = isOther ? f.countInstructions() : report.instructions;
    if (options.report) {
      report.namesAfter = isOther ? countNames(f) : report.names;
    } else if (isQuiet(report)) {
      const std::lock_guard lock(mutex);
      addUp(std::exchange(report.passes, {}), result.passes);
    }
  };
  PipelineRun(module, plan, options, [&](const Function& f) {
    return !decline && f.hasBody && !storesNumber[f.index] && !leave.contains(module.text(f.name));
  }).run(reports, before, after);
  for (const FunctionReport& report : reports)
    if (!report.error.empty())
      return fail(Status::Internal, fmt::format("{}: internal error {}\n", options.fileName, report.error));

  noteChanges(module, plan.steps, reports, result.outcomes);
  remarkUninitialised(module, uninitialised, result.remarks);
  if (options.loopRemarks) remarkLoops(module, reports, result.remarks);
  summarize(module, options, reports, result);
  const ThreadWatch printWatch(options.times);
  const bool keepAll = decline && !options.reprint;
  // The byte order mark is not part of the module.
  const std::string_view mark = text.substr(0, static_cast<std::size_t>(module.source.data() - text.data()));
  std::vector<text::FunctionPlace> places;
  result.output = keepAll
                      ? std::string(module.source)
                      : text::print(module, {.reprint = options.reprint, .places = &places, .jobs = options.jobs});
  if (!options.reprint) result.output.insert(0, mark);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Function& f = module.functions[i];
    if (keepAll) places.push_back({f.source.begin, f.hasBody ? f.body.begin : f.source.end, f.source.end});
    reports[i].bytes = f.source.end - f.source.begin;
    reports[i].bytesAfter = places[i].end - places[i].begin;
  }
  if (options.outcomes) result.outcomesAfter = outcomesOf(module, places);
  result.printSeconds = printWatch.seconds();
  if (options.report) result.reportJson = reportJson(module, options, reports, result);
  return result;
}

std::map<std::string, std::vector<std::string>> innermostLoops(std::string_view text,
                                                               const std::vector<std::string>& functions) {
  std::map<std::string, std::vector<std::string>> labels;
  auto parsed = text::parse(text, {});
  if (!std::holds_alternative<std::unique_ptr<Module>>(parsed)) return labels;
  Module& module = *std::get<0>(parsed);
  for (Function& f : module.functions) {
    if (!f.hasBody || std::ranges::find(functions, module.text(f.name)) == functions.end()) continue;
    Analyses analyses(module, f);
    if (analyses.cfg().complete())
      labels.emplace(module.text(f.name), innermostLoopsOf(module, f, analyses.cfg(), analyses.loops()));
  }
  return labels;
}

std::vector<PassDescription> describePasses() {
  std::vector<PassDescription> all;
  for (const PassInfo& p : passTable())
    all.push_back({p.name, p.summary, levelOf(p), {}, p.declines != Declines::Whole});
  for (const PassAlias& alias : passAliases())
    all[static_cast<std::size_t>(alias.pass)].aliases.push_back(alias.name);
  return all;
}

std::vector<KnobDescription> describeKnobs() {
  std::vector<KnobDescription> all;
  for (const KnobInfo& k : knobTable())
    all.push_back({k.name, k.summary, k.defaultValue, k.least, k.most, k.values, {}, {}, k.isForTests});
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].defaultName = knobValueName(knobTable()[i], all[i].defaultValue);
  for (const KnobAlias& alias : knobAliases())
    all[static_cast<std::size_t>(alias.knob)].aliases.push_back({alias.name, alias.isInverted});
  return all;
}

std::string knobValueText(std::string_view name, int64_t value) {
  const KnobInfo* const knob = findKnob(name).knob;
  return knob == nullptr || knob->values.empty() ? std::to_string(value) : std::string(knobValueName(*knob, value));
}

std::vector<OpcodeDescription> describeOpcodes() {
  std::vector<OpcodeDescription> all;
  for (const OpcodeRow& row : opcodeTable())
    all.push_back({row.key, row.operands, effectNames(row.effects), row.summary});
  return all;
}

std::string_view version() { return PTXOPT_VERSION; }

}  // namespace ptxopt
