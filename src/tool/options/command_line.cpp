#include "tool/options/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <regex>

#include "dump/dump.h"
#include "tool/commands/subcommands.h"
#include "tool/manual/help.h"
#include "tool/options/environment.h"
#include "tool/options/guard_options.h"
#include "tool/options/optimizer_options.h"
#include "tool/options/parse_arguments.h"
#include "tool/revision.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {

bool readCommandLine(int argc, char** argv, CommandLine& line, int& exitCode) {
  CLI::App app(
      "ptxopt INPUT -o OUTPUT [OPTIONS]\n"
      "ptxopt --in-place FILE|FOLDER... [OPTIONS]\n"
      "ptxopt COMMAND ...\n"
      "Reads PTX, optimizes it for ptxas, and writes PTX.\n"
      "Exit codes: 0 ok, 1 a check failed, 2 usage or I/O, 3 not valid PTX, 4 internal error.",
      "ptxopt");
  app.set_version_flag("--version", versionText(), "say the version, with the git revision, and end");
  app.set_help_all_flag("--help-all", "also the knobs, the figures inside the passes");
  app.footer(subcommandHelp() +
             "Examples:\n"
             "  ptxopt kernel.ptx -o better.ptx              the default pipeline\n"
             "  ptxopt kernel.ptx -o - -O1 --stats           figures on standard error\n"
             "  ptxopt --in-place keep/ -j0 --verify         what nvcc -keep left, checked\n" +
             "\n" + environmentHelp());
  Options& o = line.options;
  OptimizerOptions optimizer(o);
  std::vector<std::string> remarks, warnings;
  bool listPasses = false, listKnobs = false, listOpcodes = false;
  using Action = CommandLine::Action;

  app.add_option("INPUT", line.inputs, "PTX file; - is standard input; with --in-place also several, and folders");
  CLI::Option* const outputOption =
      app.add_option("-o,--output", line.output, "where the result goes; - (the default) is standard output")
          ->type_name("FILE");
  app.add_flag("--in-place", line.inPlace, "replace each file by its result; of folders, all *.ptx below")
      ->excludes(outputOption);

  const char* const kPipeline = "Which passes run";
  optimizer.addPasses(app, kPipeline);
  app.add_option("--arch", o.architecture, "optimize for this one instead of the file's .target")
      ->type_name("sm_XX")
      ->group(kPipeline);
  app.add_option("-j,--jobs", o.jobs, "threads; 0: one a core; the output does not depend on it")
      ->type_name("N")
      ->check(CLI::Range(0, 1024))
      ->group(kPipeline);

  GuardLine guard;
  addGuardOptions(app, guard);

  const char* const kOutput = "What comes out";
  app.add_flag("--reprint", o.reprint, "print everything anew, one instruction a line, without comments")
      ->group(kOutput);
  app.add_flag("--verify", line.verify,
               "run the result and the input on made-up data and write nothing if they differ")
      ->group(kOutput);
  app.add_option("--report", line.report, "write a JSON report")->type_name("FILE.json")->group(kOutput);
  app.add_flag("--stats", line.stats, "say what each pass did")->group(kOutput);
  app.add_flag("--time-report", line.timeReport, "say where the time went")->group(kOutput);
  app.add_option("-W", warnings,
                 "warn of: uninitialised (registers that may be read before they are written; also -v does), "
                 "unknown-opcode, all")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"uninitialised", "uninitialized", "unknown-opcode", "all"}))
      ->group(kOutput);
  app.add_option(
         "-R", remarks,
         "say of each loop what a pass did: pass=NAME, or pass-missed=NAME for why it did nothing; NAME is a "
         "regular expression")
      ->type_name("KIND=NAME")
      ->allow_extra_args(false)
      ->group(kOutput);
  app.add_flag("--warn-unknown", line.warnUnknown, "the same as -Wunknown-opcode")->group(kOutput);
  app.add_flag("-v,--verbose", line.verbose, "say what is done, and why something is not")->group(kOutput);

  const char* const kInside = "Looking inside";
  app.add_flag("--verify-each", o.verifyEach, "check the internal representation after each pass")->group(kInside);
  app.add_flag("--verify-analyses", o.verifyAnalyses, "make each kept analysis anew after each pass and compare")
      ->group(kInside);
  app.add_option("--print-before", o.printBefore, "show each function before these passes, on standard error")
      ->type_name("PASS,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kInside);
  // What the knob of this name did.
  app.add_flag_callback("--dump-before-cssa{1}", [&o] { o.printBefore.emplace_back("cssa-coalesce"); })->group("");
  app.add_option("--print-after", o.printAfter, "show each function after these passes, on standard error")
      ->type_name("PASS,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kInside);
  app.add_flag("--print-after-all", o.printAfterAll, "show each function after every pass")->group(kInside);
  app.add_option(
         "--dump", line.dumps,
         fmt::format("show analyses of each function, and no PTX unless -o is given; of the input, or behind "
                     "the passes that -O or --passes choose: {}",
                     CLI::detail::find_and_replace(dumpNames(), ",", ", ")))
      ->type_name("ANALYSIS,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kInside);
  CLI::Option* const dumpFileOption =
      app.add_option("--dump-file", line.dumpFile, "where --dump writes; - (the default) is standard output")
          ->type_name("FILE")
          ->group(kInside);
  app.add_flag("--list-passes", listPasses, "list the passes")->group(kInside);
  app.add_flag("--list-knobs", listKnobs, "list the knobs of the passes")->group(kInside);
  app.add_flag("--list-opcodes", listOpcodes, "list what is known of each opcode")->group(kInside);
  app.add_option("--completion", line.shell, "print what completes commands: source it in the shell, or install it")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("SHELL")
      ->group(kInside);
  app.add_option("--write-manual", line.manualFolder, "write the pages of the manual, ptxopt.1 and so on")
      ->type_name("FOLDER")
      ->group(kInside);

  optimizer.addKnobs(app);

  if (!parseArguments(app, argc, argv, exitCode)) return false;

  // Who looks at analyses wants those of what he wrote, unless he names passes.
  optimizer.finish(line.dumps.empty() ? 2 : 0);
  line.writesOutput = line.dumps.empty() || outputOption->count() != 0;
  for (const std::string& remark : remarks) {
    const std::size_t equals = remark.find('=');
    const std::string kind = remark.substr(0, equals);
    std::string& to = kind == "pass-missed" ? line.remarksMissed : line.remarks;
    try {
      if (equals == std::string::npos || (kind != "pass" && kind != "pass-missed"))
        throw std::regex_error(std::regex_constants::error_complexity);
      to = remark.substr(equals + 1);
      (void)std::regex(to);
    } catch (const std::regex_error&) {
      exitCode = fail(Status::Usage, fmt::format("-R{}: say -Rpass=NAME or -Rpass-missed=NAME", remark));
      return false;
    }
    o.loopRemarks = true;
  }
  for (const std::string& warning : warnings) {
    line.warnUnknown |= warning == "unknown-opcode" || warning == "all";
    line.warnUninitialised |= warning != "unknown-opcode";
  }
  line.warnUninitialised |= line.verbose;
  o.warnUninitialised = line.warnUninitialised;
  o.report = !line.report.empty();
  line.action = listPasses                   ? Action::ListPasses
                : listKnobs                  ? Action::ListKnobs
                : listOpcodes                ? Action::ListOpcodes
                : !line.shell.empty()        ? Action::PrintCompletion
                : !line.manualFolder.empty() ? Action::WriteManual
                                             : Action::Optimize;
  if (line.action == Action::Optimize && line.inputs.empty()) {
    fmt::print(stderr, "ptxopt: no input file\nUsage: ptxopt INPUT -o OUTPUT; ptxopt --help lists the options.\n");
    exitCode = static_cast<int>(Status::Usage);
    return false;
  }
  if (!line.inputs.empty()) line.input = line.inputs.front();
  const auto usage = [&](const std::string& message) {
    fmt::print(stderr, "ptxopt: {}\n", message);
    exitCode = static_cast<int>(Status::Usage);
    return false;
  };
  const auto oneFile = [&](std::string_view a, std::string_view b, const std::string& file) {
    return usage(fmt::format("the {} and the {} are one file, '{}'", a, b, file));
  };
  std::vector<std::string> passedOver;
  std::string error;
  const bool hasGuard = resolveGuard(guard, o, line.guard, error, &passedOver);
  for (const std::string& why : passedOver) print(stderr, fmt::format("ptxopt: warning: {}\n", why));
  if (!hasGuard) return usage(error);
  if (line.inPlace) {
    if (!line.dumps.empty() || line.timeReport) return usage("--dump and --time-report are not for --in-place");
    if (std::ranges::find(line.inputs, "-") != line.inputs.end()) return usage("standard input has no place");
    return true;
  }
  if (line.inputs.size() > 1)
    return usage(fmt::format("'{}' and '{}': several files need --in-place", line.inputs[0], line.inputs[1]));
  if (std::string error; findDumps(line.dumps, error).size() != line.dumps.size()) return usage(error);
  if (line.dumps.empty() && dumpFileOption->count() != 0) return usage("--dump-file without --dump");
  if (line.writesOutput && line.report == line.output) return oneFile("output", "report", line.output);
  if (!line.dumps.empty() && line.writesOutput && line.dumpFile == line.output)
    return oneFile("output", "dump", line.output);
  if (!line.dumps.empty() && line.dumpFile == line.report) return oneFile("report", "dump", line.report);
  o.fileName = line.input == "-" ? "<stdin>" : line.input;
  return true;
}

}  // namespace ptxopt::tool
