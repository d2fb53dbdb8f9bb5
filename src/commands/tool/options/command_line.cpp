// Options are declared by groups of --help, the rare ones only where a word may name one, because declaring them takes
// longer than reading a short command line. Then what was said is taken, and combinations that do not go together are
// refused.
#include "tool/options/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <span>

#include "dump/dump.h"
#include "passes/manager/pipeline.h"
#include "ptxas/find.h"
#include "support/log.h"
#include "support/nearest.h"
#include "tool/commands/subcommands.h"
#include "tool/files.h"
#include "tool/manual/help.h"
#include "tool/options/architecture_option.h"
#include "tool/options/environment.h"
#include "tool/options/facts_option.h"
#include "tool/options/guard_options.h"
#include "tool/options/optimizer_options.h"
#include "tool/options/parse_arguments.h"
#include "tool/options/profile_option.h"
#include "tool/revision.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {
namespace {

constexpr const char *kPipeline = "Passes", *kInside = "Inspection";  // groups of --help

class CommandLineReader {
 public:
  CommandLineReader(CommandLine& line, std::span<char* const> arguments);

  // As readCommandLine.
  bool read(int argc, char** argv, int& exitCode);

 private:
  // ---- declaring the options: a function for each group of --help, in the order there ----

  void addFiles();
  void addPipeline();
  void addOutput();
  void addInside();
  void addLists();
  // Declaring options takes longer than all else that comes before the input is read, and longer for each the more there are
  // already: those that few command lines have are declared only if one may be meant, or all are shown.
  bool mayNameOther(std::span<char* const> arguments) const;

  // ---- what was said ----

  bool takeRemarks(int& exitCode);
  // Names that change nothing: of -Rpass, and of --print-before and --print-after.
  static void warnOfNoPass(const std::string& remark, const PassPattern& pattern);
  void warnOfStepsThatDoNotRun() const;
  void takeWarnings();
  CommandLine::Action action() const;

  // ---- what does not go together; false with a message ----

  bool check();
  bool takeGuard();
  bool checkInPlace() const;
  bool checkFiles() const;

  CommandLine& line_;
  CLI::App app_;
  OptimizerOptions optimizer_;
  GuardLine guard_;
  FactsLine facts_;
  ProfileLine profile_;
  CLI::Option* outputOption_ = nullptr;
  CLI::Option* dumpFileOption_ = nullptr;
  std::vector<std::string> remarks_, warnings_;
  bool listPasses_ = false, listPipeline_ = false, listKnobs_ = false, listTestKnobs_ = false, listOpcodes_ = false;
};

CommandLineReader::CommandLineReader(CommandLine& line, std::span<char* const> arguments)
    : line_(line),
      app_(
          "ptxopt INPUT -o OUTPUT [OPTIONS]\n"
          "ptxopt --in-place FILE|FOLDER... [OPTIONS]\n"
          "ptxopt COMMAND ...\n"
          "Reads PTX, optimizes it for ptxas, and writes PTX.\n"
          "Exit codes: 0 ok, 1 a check failed, 2 usage or I/O, 3 not valid PTX, 4 internal error.",
          "ptxopt"),
      optimizer_(line.options) {
  app_.set_version_flag("--version", versionText(), "print the version, with the git revision, and exit");
  app_.set_help_all_flag("--help-all",
                         "print this help with the knobs, which are parameters of the passes, and exit");
  app_.footer([] {
    return subcommandHelp() +
           "Examples:\n"
           "  ptxopt kernel.ptx -o better.ptx              the default pipeline\n"
           "  ptxopt kernel.ptx -o - -O1 --stats           figures on standard error\n"
           "  ptxopt --in-place keep/ -j0 --verify         what nvcc -keep left, checked\n" +
           "\n" + environmentHelp();
  });
  addFiles();
  optimizer_.addPasses(app_, kPipeline);
  const bool namesOther = mayNameOther(arguments);
  if (namesOther) addPipeline();
  addGuardOptions(app_, guard_);  // variables of the environment give them, too
  if (!namesOther || !mayNameOther(arguments)) return;
  addOutput();
  addInside();
  if (!mayNameOther(arguments)) return;
  addLists();
  optimizer_.addKnobs(app_);
}

bool CommandLineReader::mayNameOther(std::span<char* const> arguments) const {
  if (DescribeInstead::isWanted()) return true;
  return std::ranges::any_of(arguments, [&](std::string_view word) {
    if (word.size() < 2 || word[0] != '-') return false;
    if (word == "-h" || word.starts_with("--help")) return true;
    const std::string_view name = word[1] == '-' ? word.substr(0, word.find('=')) : word.substr(0, 2);
    return app_.get_option_no_throw(std::string(name)) == nullptr;
  });
}

void CommandLineReader::addFiles() {
  app_.add_option("INPUT", line_.inputs,
                  "PTX file, or - for standard input; with --in-place, any number of files and folders");
  outputOption_ =
      app_.add_option("-o,--output", line_.output, "write the result to FILE; - (the default) is standard output")
          ->type_name("FILE");
  app_.add_flag("--in-place", line_.inPlace,
                "replace each file by its result; in folders, all *.ptx files at any depth")
      ->excludes(outputOption_);
}

void CommandLineReader::addPipeline() {
  addArchitecture(app_, line_.options.architecture, "optimize for this architecture instead of the file's .target")
      ->group(kPipeline);
  facts_.addTo(app_, kPipeline);
  profile_.addTo(app_, kPipeline);
  app_.add_option("--specialize", line_.specialize,
                  "keep kernels that have facts as they are, and add specialized copies whose names end in SUFFIX")
      ->type_name("SUFFIX")
      ->excludes("--in-place")
      ->group(kPipeline);
  app_.add_flag("--facts-check", line_.checkFacts,
                "add code that stops a launch, with a message, where a fact does not hold")
      ->excludes("--in-place")
      ->group(kPipeline);
  app_.add_option("-j,--jobs", line_.options.jobs,
                  "number of threads; 0: one per core; the output does not depend on it [1]")
      ->type_name("N")
      ->check(CLI::Range(0, 1024))
      ->group(kPipeline);
}

void CommandLineReader::addOutput() {
  const char* const kOutput = "Output";
  app_.add_flag("--reprint", line_.options.reprint,
                "print everything in one layout, one instruction per line, without comments")
      ->group(kOutput);
  app_.add_option("--externals", line_.externals,
                  "functions that may be called without a declaration: those of OptiX, _optix_* and _rt_*, which "
                  "ptxas refuses, so that the guard cannot judge; or none [optix where the guard is off]")
      ->check(CLI::IsMember({"optix", "none"}))
      ->type_name("optix|none")
      ->group(kOutput);
  app_.add_flag("--strip-debug", line_.stripDebug,
                "first drop debug information (.loc, .file, .section .debug*, .target debug), so that code "
                "compiled for debugging is optimized")
      ->group(kOutput);
  app_.add_flag("--verify", line_.verify,
                "run the input and the result on generated inputs, and write nothing if they differ")
      ->group(kOutput);
  app_.add_option("--report", line_.report, "write a JSON report")->type_name("FILE.json")->group(kOutput);
  app_.add_flag("--stats", line_.stats, "print what each pass did")->group(kOutput);
  app_.add_flag("--time-report", line_.timeReport, "print the time that each step took")->group(kOutput);
  app_.add_option("-W", warnings_,
                  "warn about: uninitialised (registers that may be read before they are written; -v does so too), "
                  "unknown-opcode, all")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"uninitialised", "uninitialized", "unknown-opcode", "all"}))
      ->group(kOutput);
  app_.add_option("-R", remarks_,
                  "report for each loop what a pass did (pass=NAME), or why it did nothing (pass-missed=NAME); "
                  "NAME is a regular expression")
      ->type_name("KIND=NAME")
      ->allow_extra_args(false)
      ->group(kOutput);
  app_.add_flag("--warn-unknown", line_.warnUnknown, "the same as -Wunknown-opcode")->group(kOutput);
  app_.add_flag("-v,--verbose", line_.verbose,
                "report what is done, and why something is not; -vv also calls of ptxas and of the cache, -vvv "
                "each decision")
      ->group(kOutput);
}

void CommandLineReader::addInside() {
  app_.add_flag("--verify-each", line_.options.verifyEach, "check the internal representation after each pass")
      ->group(kInside);
  app_.add_flag("--verify-analyses", line_.options.verifyAnalyses,
                "recompute each preserved analysis after each pass, and compare")
      ->group(kInside);
  app_.add_option("--print-before", line_.options.printBefore,
                  "print each function before these passes, to standard error")
      ->type_name("PASS,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kInside);
  app_.add_option("--print-after", line_.options.printAfter,
                  "print each function after these passes, to standard error")
      ->type_name("PASS,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kInside);
  app_.add_flag("--print-after-all", line_.options.printAfterAll, "print each function after every pass")
      ->group(kInside);
  app_.add_option("--dump", line_.dumps,
                  fmt::format("print analyses of each function, and no PTX unless -o is given; of the input, or "
                              "after the passes that -O or --passes choose: {}",
                              CLI::detail::find_and_replace(dump::dumpNames(), ",", ", ")))
      ->type_name("ANALYSIS,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kInside);
  dumpFileOption_ = app_.add_option("--dump-file", line_.dumpFile,
                                    "write what --dump prints to FILE; - (the default) is standard output")
                        ->type_name("FILE")
                        ->group(kInside);
}

void CommandLineReader::addLists() {
  app_.add_flag("--list-passes", listPasses_, "list the passes, in the order of the pipeline")->group(kInside);
  app_.add_flag("--list-pipeline", listPipeline_,
                "list the steps of -O2 in order, each with its level, its kind, and the analyses that it uses")
      ->group(kInside);
  app_.add_flag("--list-knobs", listKnobs_, "list the knobs of the passes")->group(kInside);
  app_.add_flag("--list-test-knobs", listTestKnobs_, "list the knobs that are for tests")
      ->group(std::string(kTestGroup));
  app_.add_flag("--list-opcodes", listOpcodes_, "list what is known of each opcode")->group(kInside);
  app_.add_option("--completion", line_.shell, "print the completion script of a shell, to source or to install")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("SHELL")
      ->group(kInside);
  app_.add_option("--write-manual", line_.manualFolder, "write the manual pages, ptxopt.1 and others, to FOLDER")
      ->type_name("FOLDER")
      ->group(kInside);
}

bool CommandLineReader::read(int argc, char** argv, int& exitCode) {
  if (!parseArguments(app_, argc, argv, exitCode)) return false;
  // Who looks at analyses wants those of what he wrote, unless he names passes.
  optimizer_.finish(line_.dumps.empty() ? 2 : 0);
  line_.writesOutput = line_.dumps.empty() || outputOption_->count() != 0;
  if (!takeRemarks(exitCode)) return false;
  takeWarnings();
  line_.options.report = !line_.report.empty();
  line_.options.times = line_.timeReport;
  line_.action = action();
  if (line_.action == CommandLine::Action::Optimize) warnOfStepsThatDoNotRun();
  exitCode = static_cast<int>(Status::Usage);
  return check();
}

bool CommandLineReader::takeRemarks(int& exitCode) {
  for (const std::string& remark : remarks_) {
    const std::size_t equals = remark.find('=');
    const std::string kind = remark.substr(0, equals);
    const bool isKnown = equals != std::string::npos && (kind == "pass" || kind == "pass-missed");
    PassPattern& pattern = kind == "pass" ? line_.remarks : line_.remarksMissed;
    const std::string wrong =
        isKnown ? pattern.compile(remark.substr(equals + 1)) : "say -Rpass=NAME or -Rpass-missed=NAME";
    if (!wrong.empty()) {
      exitCode = fail(Status::Usage, fmt::format("-R{}: {}", remark, wrong));
      return false;
    }
    warnOfNoPass(remark, pattern);
    line_.options.loopRemarks = true;
  }
  return true;
}

void CommandLineReader::warnOfNoPass(const std::string& remark, const PassPattern& pattern) {
  if (remark.find('@') != std::string::npos) return;  // one of several runs, which only the pipeline has
  std::vector<std::string_view> names;
  for (const PassInfo& pass : passTable()) names.push_back(pass.name);
  if (std::ranges::any_of(names, [&](std::string_view name) { return pattern.matches(std::string(name)); })) return;
  const std::string meant = orNearest(remark.substr(remark.find('=') + 1), names);
  log::warn(log::kTool, fmt::format("-R{}: no pass has such a name{}", remark,
                                    meant.empty() ? "; --list-passes lists them" : meant));
}

void CommandLineReader::warnOfStepsThatDoNotRun() const {
  const Options& o = line_.options;
  std::vector<std::string> all = o.printBefore;
  all.insert(all.end(), o.printAfter.begin(), o.printAfter.end());
  if (all.empty()) return;
  std::string error;
  const std::vector<Step> steps =
      makePipeline({.level = o.level, .passes = o.passes ? &*o.passes : nullptr, .skip = o.skip}, all, error);
  if (!error.empty()) return;  // optimize() says so
  const auto warn = [&](std::string_view option, const std::vector<std::string>& names) {
    for (const std::string& name : names)
      if (std::ranges::none_of(steps, [&](const Step& step) { return isNamed(step, {&name, 1}); }))
        log::warn(log::kTool, fmt::format("{}={}: {} does not run in this pipeline", option, name, name));
  };
  warn("--print-before", o.printBefore);
  warn("--print-after", o.printAfter);
}

void CommandLineReader::takeWarnings() {
  for (const std::string& warning : warnings_) {
    line_.warnUnknown |= warning == "unknown-opcode" || warning == "all";
    line_.warnUninitialised |= warning != "unknown-opcode";
  }
  line_.verbose = log::isEnabled(log::Level::Info);
  line_.warnUninitialised |= line_.verbose;
  line_.options.warnUninitialised = line_.warnUninitialised;
}

CommandLine::Action CommandLineReader::action() const {
  using Action = CommandLine::Action;
  return listPasses_                   ? Action::ListPasses
         : listPipeline_               ? Action::ListPipeline
         : listKnobs_                  ? Action::ListKnobs
         : listTestKnobs_              ? Action::ListTestKnobs
         : listOpcodes_                ? Action::ListOpcodes
         : !line_.shell.empty()        ? Action::PrintCompletion
         : !line_.manualFolder.empty() ? Action::WriteManual
                                       : Action::Optimize;
}

bool usage(const std::string& message) {
  printError(fmt::format("ptxopt: {}\n", message));
  return false;
}

bool oneFile(std::string_view a, std::string_view b, const std::string& file) {
  return usage(fmt::format("the {} and the {} are one file, '{}'", a, b, file));
}

bool CommandLineReader::check() {
  if (line_.action == CommandLine::Action::Optimize && line_.inputs.empty())
    return usage("no input file\nUsage: ptxopt INPUT -o OUTPUT; ptxopt --help lists the options.");
  if (!line_.inputs.empty()) line_.input = line_.inputs.front();
  if (!takeGuard()) return false;
  line_.options.optixExternals =
      line_.externals == "optix" || (line_.externals.empty() && line_.guard.mode == guard::GuardMode::Off);
  if (std::string error; !facts_.read(error)) return usage(error);
  line_.options.facts = facts_.text;
  line_.options.factsName = facts_.path;
  if (std::string error; !profile_.read(error)) return usage(error);
  profile_.giveTo(line_.options);
  if (line_.inPlace) return checkInPlace();
  if (!checkFiles()) return false;
  line_.options.fileName = line_.input == "-" ? "<stdin>" : line_.input;
  return true;
}

bool CommandLineReader::takeGuard() {
  std::vector<std::string> passedOver;
  std::string error = guard_.ptxas.empty() ? std::string() : ptxas::whyNoProgram("--ptxas", guard_.ptxas);
  if (!error.empty()) return usage(error);
  const bool hasGuard = resolveGuard(guard_, line_.options, line_.guard, error, &passedOver);
  for (const std::string& why : passedOver) log::warn(log::kTool, why);
  return hasGuard || usage(error);
}

bool CommandLineReader::checkInPlace() const {
  if (!line_.dumps.empty() || line_.timeReport) return usage("--dump and --time-report are not for --in-place");
  if (std::ranges::find(line_.inputs, "-") != line_.inputs.end()) return usage("standard input has no place");
  if (!facts_.path.empty()) return usage("--facts is for one file: it names that file's kernels");
  return true;
}

bool CommandLineReader::checkFiles() const {
  const CommandLine& l = line_;
  if (facts_.path == "-") return usage("--facts needs a file");
  if (profile_.path == "-") return usage("--profile-use needs a file");
  std::error_code none;
  if (l.inputs.size() > 1 && l.inputs[0].find_first_of("./") == std::string::npos &&
      !std::filesystem::exists(l.inputs[0], none))
    return usage(fmt::format("'{}' is not a command or a file; ptxopt --help lists the commands", l.inputs[0]));
  if (l.inputs.size() > 1)
    return usage(fmt::format("'{}' and '{}': several files need --in-place", l.inputs[0], l.inputs[1]));
  if (std::string error; dump::findDumps(l.dumps, error).size() != l.dumps.size()) return usage(error);
  if (l.dumps.empty() && dumpFileOption_ != nullptr && dumpFileOption_->count() != 0)
    return usage("--dump-file without --dump");
  if (l.writesOutput && l.report == l.output) return oneFile("output", "report", l.output);
  if (!l.dumps.empty() && l.writesOutput && l.dumpFile == l.output) return oneFile("output", "dump", l.output);
  if (!l.dumps.empty() && l.dumpFile == l.report) return oneFile("report", "dump", l.report);
  const NamedFile report{"report", l.report}, dump{"dump", l.dumpFile};
  if (std::string why = whyOneFile({{"input", l.input}}, {report, dump}); !why.empty()) return usage(why);
  for (const NamedFile& read : {NamedFile{"facts", facts_.path}, NamedFile{"profile", profile_.path}})
    if (std::string why = whyOneFile({read}, {{"output", l.output}, report, dump}); !why.empty()) return usage(why);
  return true;
}

}  // namespace

bool readCommandLine(int argc, char** argv, CommandLine& line, int& exitCode) {
  return CommandLineReader(line, {argv + std::min(argc, 1), argv + argc}).read(argc, argv, exitCode);
}

}  // namespace ptxopt::tool
