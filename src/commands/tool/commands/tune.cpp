// ptxopt tune IN.ptx -o OUT.ptx
#include "tune/tune.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <thread>

#include "support/demangle.h"
#include "support/log.h"
#include "target/occupancy.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/tune_gpu.h"
#include "tool/commands/verify_output.h"
#include "tool/files.h"
#include "tool/options/architecture_option.h"
#include "tool/options/environment.h"
#include "tool/options/number_checks.h"
#include "tool/options/parse_arguments.h"
#include "tool/options/profile_option.h"
#include "tool/terminal/messages.h"
#include "tool/terminal/progress.h"
#include "tool/terminal/table.h"
#include "tune/tuning_file.h"
#include "tune/variants.h"

namespace ptxopt::tool {
namespace {

struct TuneLine {
  std::string input, output = "-";
  std::string architecture, objective = "time";
  std::string ptxas;
  double timeoutSeconds = 600;
  std::optional<double> budgetSeconds;
  unsigned jobs = 1;
  std::string report, save, apply;
  ProfileLine profile;
  TuneGpuLine gpu;
  bool stale = false, verify = false, quiet = false, listVariants = false;
};

bool readTuneLine(int argc, char** argv, TuneLine& line, int& exitCode) {
  CLI::App app(
      "Tries variants of the passes and limits on registers on each kernel, asks ptxas what it makes of them, and "
      "keeps the best: no kernel is worse than in the input by spills, then modelled time, then resident warps, "
      "then "
      "machine instructions. With --measure gpu it keeps what is fastest on this machine's GPU.\n"
      "Exit codes: 0 ok, 1 the output is not what was chosen (--apply) or not equal (--verify), 2 usage or I/O, or "
      "ptxas does not take the input, 3 not valid PTX, 4 internal error.",
      "ptxopt tune");
  app.get_formatter()->column_width(34);
  app.add_option("INPUT", line.input, "PTX file; - is standard input");
  app.add_option("-o,--output", line.output, "write the result to FILE; - (the default) is standard output")
      ->type_name("FILE");
  app.add_option(
         "--objective", line.objective,
         "what counts most: modelled time (the default), resident warps, machine instructions, those of innermost "
         "loops, or registers; spills come before all of these")
      ->type_name("time|warps|sass|inner|regs")
      ->check([](const std::string& text) {
        return ptxas::objectiveNamed(text) ? "" : "is time, warps, sass, inner or regs";
      });
  addArchitecture(app, line.architecture, "the architecture to assemble for, instead of the file's .target");
  app.add_option("-j,--jobs", line.jobs,
                 "runs of ptxas at a time; 0: one per core; the output does not depend on it")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
  app.add_option("--budget", line.budgetSeconds,
                 "begin nothing after so long and stop what runs; what was not tried by then is not chosen. The "
                 "output then depends on the machine")
      ->type_name("SECONDS")
      ->check(numberNotNegative());
  app.add_option("--ptxas", line.ptxas, "the ptxas to use [$PTXOPT_PTXAS, $PTXAS, or the first one found]")
      ->type_name("PROGRAM");
  app.add_option("--timeout", line.timeoutSeconds, "give up on a run of ptxas after so long")
      ->type_name("SECONDS")
      ->check(positiveNumber())
      ->capture_default_str();
  line.profile.addTo(app, "Options");
  app.add_flag("--verify", line.verify,
               "run the input and the result on generated inputs, and write nothing if they differ");
  app.add_flag("-q,--quiet", line.quiet, "no table of what was gained");
  app.add_flag("--list-variants", line.listVariants, "list what is tried");

  line.gpu.addTo(app);
  const char* const kFiles = "What was found";
  app.add_option("--report", line.report, "write all candidates of each kernel with their figures")
      ->type_name("FILE.json")
      ->group(kFiles);
  app.add_option("--save", line.save, "write what was chosen, for --apply")->type_name("FILE.json")->group(kFiles);
  CLI::Option* const apply =
      app.add_option("--apply", line.apply, "do what was chosen before: nothing is tried, no ptxas is needed")
          ->type_name("FILE.json")
          ->group(kFiles);
  app.add_flag(
         "--apply-stale", line.stale,
         "let --apply take a choice made for another text or by another ptxopt, with a warning; what is worse "
         "for it is not noticed")
      ->needs(apply)
      ->group(kFiles);
  for (const char* const searching : {"--objective", "--measure", "--budget", "--report", "--save"})
    apply->excludes(app.get_option(searching));
  if (!parseArguments(app, argc, argv, exitCode)) return false;
  if (line.listVariants) return true;
  const auto usage = [&](const std::string& message) {
    exitCode = fail(Status::Usage, message);
    return false;
  };
  if (line.input.empty()) return usage("no input file; ptxopt tune --help says more");
  if (const std::string wrong = line.gpu.whatIsWrong(app); !wrong.empty()) return usage(wrong);
  if (!line.architecture.empty() && target::Target(line.architecture).limits() == nullptr)
    return usage(fmt::format("the architecture '{}' is not known", line.architecture));
  std::vector<std::string> outputs{line.output};
  for (const std::string& path : {line.report, line.save}) {
    if (path.empty()) continue;
    if (std::ranges::find(outputs, path) != outputs.end()) return usage(fmt::format("two outputs are '{}'", path));
    outputs.push_back(path);
  }
  const NamedFile report{"report", line.report}, choice{"choice", line.save}, output{"output", line.output};
  std::vector<NamedFile> read{{"choice", line.apply}, {"record", line.gpu.records}, {"profile", line.profile.path}};
  for (const std::string& argument : line.gpu.arguments)
    if (const std::size_t at = argument.find(":@"); at != std::string::npos)
      read.push_back({"argument", argument.substr(at + 2)});
  for (const std::string& why :
       {whyOneFile({{"input", line.input}}, {report, choice}), whyOneFile(read, {report, choice, output})})
    if (!why.empty()) return usage(why);
  if (std::string error; !line.profile.read(error)) return usage(error);
  if (line.jobs == 0) line.jobs = std::max(1u, std::thread::hardware_concurrency());
  return true;
}

int listAllVariants() {
  Table table({{"variant"}, {"options"}, {"what it is"}});
  for (const tune::Variant& v : tune::variants())
    table.addRow({v.name, v.recipe.spelled(), std::string(v.summary)});
  for (const tune::LimitVariant& v : tune::limitVariants())
    table.addRow({std::string(v.name), "... with .maxnreg", std::string(v.summary)});
  printResult(table.text({}));
  return 0;
}

Table::Cell beforeAfter(uint64_t before, uint64_t after, bool isMoreBetter) {
  if (before == after) return std::to_string(before);
  return {fmt::format("{} -> {}", before, after), (after < before) == isMoreBetter ? Style::Bad : Style::Good};
}

void printTable(const tune::TuneResult& result, ptxas::Objective objective) {
  Table table({{"kernel", Table::Align::Left, true},
               {"warps", Table::Align::Right},
               {"regs", Table::Align::Right},
               {"sass", Table::Align::Right},
               {"inner", Table::Align::Right},
               {"cycles", Table::Align::Right},
               {"variant", Table::Align::Left, true}});
  std::size_t kernels = 0, gained = 0, steps = 0;
  for (const tune::TunedFunction& f : result.functions) {
    if (!f.inCode) continue;
    kernels += f.isKernel;
    const bool hasGained = compare(f.before, f.after, ptxas::ruleFor(objective)).sign < 0;
    gained += f.isKernel && hasGained;
    steps += f.isKernel && f.after.warps > f.before.warps;
    const std::string readable = demangled(f.name);
    std::string chosen = f.variant;
    if (f.recipe.limit != 0) chosen = f.recipe.spelled();
    if (!f.note.empty()) chosen += fmt::format(" ({})", f.note);
    table.addRow({readable.empty() ? f.name : readable, beforeAfter(f.before.warps, f.after.warps, true),
                  beforeAfter(f.before.registers, f.after.registers, false),
                  beforeAfter(f.before.instructions, f.after.instructions, false),
                  beforeAfter(f.before.inner, f.after.inner, false),
                  beforeAfter(value(f.before, ptxas::Measure::Cycles).value_or(0),
                              ptxas::cyclesForWorkOf(f.before, f.after).value_or(0), false),
                  chosen});
  }
  if (table.empty()) return;
  printAsked(table.text({.colours = hasColours(stderr), .width = terminalWidth(stderr, 0)}));
  printAsked(fmt::format(
      "{} kernels for {}: {} better, {} with more resident warps; {} runs of ptxas{}\n", kernels,
      result.architecture, gained, steps, result.runs,
      result.notTried == 0 ? "" : fmt::format(", {} more were not tried: the time was up", result.notTried)));
}

// The exit code of a result that is not Ok.
int failed(Status status, const std::string& error) {
  if (status == Status::Usage) return fail(status, error.substr(0, error.find_last_not_of('\n') + 1));
  printError(error);
  return static_cast<int>(status);
}

bool isVerified(const TuneLine& line, std::string_view text, const std::string& fileName, std::string_view output) {
  if (!line.verify) return true;
  const OutputCheck check = verifyOutput(text, fileName, output, line.jobs);
  for (const std::string& message : check.notCompared) log::warn(log::kTool, message);
  if (check.difference.empty()) return true;
  printError(fmt::format("{}: error: {}", fileName, check.difference));
  return false;
}

int write(const std::vector<OutputFile>& files) {
  std::string error;
  return writeFiles(files, error) ? 0 : fail(Status::Usage, error);
}

int apply(const TuneLine& line, std::string_view text, const std::string& fileName) {
  FileText saved;
  std::string error;
  if (!readFile(line.apply, saved, error)) return fail(Status::Usage, error);
  tune::Choice choice;
  try {
    choice = tune::choiceFrom(saved);
  } catch (const std::exception& e) {
    return fail(Status::Usage, fmt::format("{}: {}", line.apply, e.what()));
  }
  if (!line.architecture.empty() && line.architecture != choice.architecture)
    return fail(Status::Usage,
                fmt::format("{}: chosen for {}, not for {}", line.apply, choice.architecture, line.architecture));
  const auto warn = [](const std::string& message) { log::warn(log::kTool, message); };
  const bool isSame = choice.input == tune::digestOf(text);
  if (!isSame) {
    const std::string message = fmt::format("{} was made for another text than '{}'", line.apply, fileName);
    if (!line.stale) return fail(Status::Usage, message + "; --apply-stale takes it all the same");
    warn(message);
  }
  const std::string profile = line.profile.text.empty() ? std::string() : tune::digestOf(line.profile.text);
  if (choice.profile != profile) {
    const std::string message =
        choice.profile.empty() ? fmt::format("{} was made without a profile", line.apply)
        : profile.empty()
            ? fmt::format("{} was made with a profile: --profile-use names it", line.apply)
            : fmt::format("{} was made with another profile than '{}'", line.apply, line.profile.path);
    if (!line.stale) return fail(Status::Usage, message + "; --apply-stale takes it all the same");
    warn(message);
  }
  const tune::Applied applied = tune::applyRecipes(
      text, choice.functions, {choice.architecture, fileName, line.profile.text, line.profile.path, line.jobs});
  if (applied.status != Status::Ok) return failed(applied.status, applied.error);
  for (const std::string& missing : applied.missing) warn(fmt::format("{}: {}", line.apply, missing));
  if (isSame && choice.profile == profile && choice.output != tune::digestOf(applied.output)) {
    const std::string message =
        fmt::format("{}: this ptxopt ({}) makes another text of the choice than ptxopt {}, whose text was measured",
                    line.apply, version(), choice.version);
    if (!line.stale) return fail(Status::CheckFailed, message + "; tune again, or take it with --apply-stale");
    warn(message);
  }
  if (!isVerified(line, text, fileName, applied.output)) return static_cast<int>(Status::CheckFailed);
  return write({{line.output, applied.output}});
}

int search(TuneLine& line, std::string_view text, const std::string& fileName) {
  tune::TuneOptions options;
  options.ptxas.program = findPtxasAloud(line.ptxas, {ptxas::versionNeededBy(text), line.architecture});
  if (options.ptxas.program.empty())
    return fail(Status::Usage, "there is no ptxas; --ptxas names one, and --apply needs none");
  options.ptxas.timeoutSeconds = line.timeoutSeconds;
  options.ptxas.cache = &ptxas::Cache::user();
  options.architecture = line.architecture;
  options.objective = *ptxas::objectiveNamed(line.objective);
  options.jobs = line.jobs;
  options.budgetSeconds = line.budgetSeconds;
  options.profile = line.profile.text;
  options.profileName = line.profile.path;
  options.fileName = fileName;
  std::optional<DeviceBench> gpu;
  if (line.gpu.isAsked()) {
    std::string error;
    gpu = line.gpu.bench(text, options, error);
    if (!gpu) return fail(Status::Usage, fmt::format("{}: --measure gpu: {}", fileName, error));
    options.device = tune::DeviceOptions{line.gpu.kernel, gpu->time};
  }
  Progress progress(0);
  options.progress = [&](std::size_t done, std::size_t total) { progress.show(done, total); };

  const tune::TuneResult result = tune::tune(text, options);
  progress.finish();
  if (result.status != Status::Ok) return failed(result.status, result.error);
  if (!result.hasFigures) return fail(Status::Usage, fmt::format("{}: {}", fileName, result.trouble));
  if (result.isDebug)
    log::warn(log::kTool, fmt::format("{}: compiled for debugging: it is left as it is", fileName));
  if (!result.trouble.empty())
    log::warn(log::kTool, fmt::format("{}: nothing was tuned: {}", fileName, result.trouble));
  if (!isVerified(line, text, fileName, result.output)) return static_cast<int>(Status::CheckFailed);

  tune::Choice choice =
      tune::choiceOf(text, result, options.objective, ptxas::versionOfPtxas(options.ptxas.program));
  if (!options.profile.empty()) choice.profile = tune::digestOf(options.profile);
  std::string saved, report;
  std::vector<OutputFile> files{{line.output, result.output}};
  if (!line.save.empty()) {
    saved = dumpJson(tune::toJson(choice), 2) + "\n";
    files.push_back({line.save, saved});
  }
  if (!line.report.empty()) {
    const std::string shortName = std::filesystem::path(fileName).filename().string();
    report = dumpJson(tune::tuneReport(text, result, choice, shortName), 2) + "\n";
    files.push_back({line.report, report});
  }
  if (const int exitCode = write(files); exitCode != 0) return exitCode;
  if (!line.quiet) printTable(result, options.objective);
  if (gpu && !line.quiet) printAsked(gpuText(result, line.gpu.kernel, gpu->device));
  return 0;
}

}  // namespace

int tuneCommand(int argc, char** argv) {
  TuneLine line;
  int exitCode = 0;
  if (!readTuneLine(argc, argv, line, exitCode)) return exitCode;
  if (line.listVariants) return listAllVariants();
  FileText text;
  std::string error;
  if (!readFile(line.input, text, error)) return fail(Status::Usage, error);
  const std::string fileName = line.input == "-" ? "<stdin>" : line.input;
  return line.apply.empty() ? search(line, text, fileName) : apply(line, text, fileName);
}

}  // namespace ptxopt::tool
