// The pipeline: parse, remarks, passes on each function, print, report.
#include <fmt/format.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <ctime>
#include <thread>

#include "api/report.h"
#include "ir/verify.h"
#include "passes/pass.h"
#include "ptxopt/ptxopt.h"
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
  std::vector<const PassInfo*> passes;
  Knobs knobs;
  std::string error;
};

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

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
  const auto check = [&](const std::vector<std::string>& names) {
    for (const std::string& name : names)
      if (findPass(name) == nullptr) plan.error = fmt::format("there is no pass '{}'", name);
  };
  check(options.skip);
  check(options.printAfter);
  if (options.passes) {
    check(*options.passes);
    for (const std::string& name : *options.passes)
      if (const PassInfo* pass = findPass(name)) plan.passes.push_back(pass);
  } else {
    for (const PassInfo& pass : passTable())
      if (pass.level <= options.level) plan.passes.push_back(&pass);
  }
  std::erase_if(plan.passes, [&](const PassInfo* pass) { return contains(options.skip, pass->name); });
  for (const auto& [name, value] : options.knobs)
    if (std::string error = plan.knobs.set(name, value); !error.empty()) plan.error = std::move(error);
  return plan;
}

uint64_t countInstructions(const Function& f) {
  uint64_t n = 0;
  for (const InstrId id : f) n += f[id].isInstruction();
  return n;
}

// Opcodes that the table does not have, each once, at its first place.
void remarkUnknownOpcodes(const Module& module, std::vector<Remark>& remarks) {
  if (std::none_of(module.opcodes.begin(), module.opcodes.end(),
                   [](const OpcodeForm& f) { return f.row == nullptr; }))
    return;
  std::vector<bool> told(module.opcodes.size());
  std::size_t line = 1, lineStart = 0, at = 0;  // the places come in ascending order
  for (const Function& f : module.functions) {
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      if (!i.isInstruction() || module.form(i).row != nullptr || told[i.payload]) continue;
      told[i.payload] = true;
      for (; at < i.sourceBegin; ++at) {
        if (module.source[at] != '\n') continue;
        ++line;
        lineStart = at + 1;
      }
      remarks.push_back({"unknown-opcode",
                         fmt::format("{}:{}:{}", module.fileName, line, i.sourceBegin - lineStart + 1),
                         fmt::format("'{}' is not known; it is kept as it is, and nothing moves over it",
                                     module.text(module.form(i).text))});
    }
  }
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

// Runs the pipeline on one function. What goes wrong inside ptxopt comes back in `error`.
void runPasses(const Module& module, Function& f, const Plan& plan, const Options& options,
               FunctionReport& report) {
  Analyses analyses(module, f, plan.knobs);
  for (const PassInfo* pass : plan.passes) {
    PassReport& passReport = report.passes.emplace_back();
    passReport.pass = pass->name;
    PassContext context{module, plan.knobs, analyses, passReport};
    const double start = threadSeconds();
    passReport.changed = pass->run(f, context);
    passReport.seconds = threadSeconds() - start;
    if (passReport.changed) analyses.invalidate(pass->preserves);
    if (options.verifyEach)
      if (const std::string error = verify(module, f); !error.empty()) {
        report.error = fmt::format("after {}: {}", pass->name, error);
        return;
      }
    if (options.printAfterAll || contains(options.printAfter, pass->name))
      report.dumps += fmt::format("// {} after {}\n{}", module.text(f.name), pass->name, printFunction(module, f));
  }
}

void forEachFunction(Module& module, unsigned jobs, const auto& work) {
  const std::size_t n = module.functions.size();
  if (jobs == 0) jobs = std::max(1u, std::thread::hardware_concurrency());
  if (jobs == 1 || n < 2) {
    for (std::size_t i = 0; i < n; ++i) work(i);
    return;
  }
  // TBB warns on standard error when it is asked for more threads than there are cores.
  const auto cores = static_cast<std::size_t>(tbb::info::default_concurrency());
  tbb::task_arena arena(static_cast<int>(std::min({std::size_t{jobs}, n, cores})));
  arena.execute([&] { tbb::parallel_for(std::size_t{0}, n, work); });
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
  if (!plan.passes.empty()) decline = wholeModuleDecline(module);
  if (decline) result.remarks.push_back(*decline);

  std::vector<FunctionReport> reports(module.functions.size());
  forEachFunction(module, options.jobs, [&](std::size_t i) {
    Function& f = module.functions[i];
    if (!f.hasBody) return;
    reports[i].instructions = countInstructions(f);
    if (!decline) runPasses(module, f, plan, options, reports[i]);
    reports[i].instructionsAfter = countInstructions(f);
  });
  for (const FunctionReport& report : reports)
    if (!report.error.empty())
      return fail(Status::Internal, fmt::format("{}: internal error {}\n", options.fileName, report.error));

  summarize(module, options, reports, result);
  start = threadSeconds();
  const bool keepAll = decline && !options.reprint;
  // The byte order mark is not part of the module.
  const std::string_view mark = text.substr(0, text.size() - module.source.size());
  if (!options.reprint) result.output = mark;
  result.output += keepAll ? std::string(module.source) : print(module, {.reprint = options.reprint});
  result.printSeconds = threadSeconds() - start;
  if (options.report) result.reportJson = reportJson(module, options, reports, result);
  return result;
}

std::vector<PassDescription> describePasses() {
  std::vector<PassDescription> all;
  for (const PassInfo& p : passTable()) all.push_back({p.name, p.summary, p.level});
  return all;
}

std::vector<KnobDescription> describeKnobs() {
  std::vector<KnobDescription> all;
  for (const KnobInfo& k : knobTable()) all.push_back({k.name, k.summary, k.defaultValue, k.least, k.most});
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
