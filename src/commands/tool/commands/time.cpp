// ptxopt time K.ptx|K.cubin: what the model of time says of each loop and kernel.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "diff/measure.h"
#include "iterations/ptx_loops.h"
#include "profile/profile.h"
#include "ptxas/assemble.h"
#include "ptxas/cubin.h"
#include "ptxas/timed_cubin.h"
#include "report/sources.h"
#include "text/parse.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/time_report.h"
#include "tool/files.h"
#include "tool/options/architecture_option.h"
#include "tool/options/line_assembly.h"
#include "tool/options/number_checks.h"
#include "tool/options/parse_arguments.h"
#include "tool/terminal/messages.h"
#include "tool/terminal/terminal.h"

namespace ptxopt::tool {
namespace {

struct TimeLine {
  std::string input, architecture, kernel, profile, format = "text", output = "-";
  LineAssembly assembly;
  std::optional<double> iterations;
  uint32_t threads = 0;
  bool path = false, code = false;
};

bool readTimeLine(int argc, char** argv, TimeLine& line, int& exitCode) {
  CLI::App app(
      "ptxopt time INPUT [OPTIONS]\n"
      "Estimates the time of each loop and kernel from the machine code that ptxas makes: cycles of a warp where "
      "data\n"
      "lies in L1, L2 or DRAM, with what limits them. INPUT is a PTX file or a cubin. The model ranks two versions "
      "of a\n"
      "kernel; it does not predict a time. No GPU is needed.\n"
      "Exit codes: 0 ok, 2 usage, I/O, or ptxas refuses the file, 4 internal error.",
      "ptxopt time");
  app.get_formatter()->column_width(34);
  app.footer(
      "Examples:\n"
      "  ptxopt time samples/matmul.ptx --arch sm_90\n"
      "  ptxopt time kernel.cubin --threads 128 --code\n"
      "  ptxopt run k.ptx ... --profile=p.json; ptxopt time k.ptx --profile p.json");
  app.add_option("INPUT", line.input, "PTX file or cubin; - is standard input")->required();
  addArchitecture(app, line.architecture, "for this one instead of the file's .target");
  app.add_option("--kernel", line.kernel, "only the function of this name")->type_name("NAME");
  app.add_option("--threads", line.threads,
                 "of a block, where the kernel does not say [256]: how many warps an SM holds follows from it")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  CLI::Option* const iterations =
      app.add_option("--iterations", line.iterations,
                     "of each loop, whenever control enters it [constant trip counts, otherwise 8]")
          ->type_name("N")
          ->check(positiveNumber())
          ->capture_default_str();
  app.add_option(
         "--profile", line.profile,
         "iterations of loops: what ptxopt run --profile counted in the same PTX, or a profile of launches, "
         "which emulate --profile-facts writes")
      ->type_name("FILE.json")
      ->excludes(iterations);
  app.add_flag("--path", line.path, "also the critical path of each loop, in text");
  app.add_flag("--code", line.code, "also each instruction, with its stall, its wait and what that is for");
  app.add_option("--format", line.format, "text or json [text]")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT");
  app.add_option("-o,--output", line.output, "where that goes [standard output]")->type_name("FILE");
  line.assembly.addTo(app);
  if (!parseArguments(app, argc, argv, exitCode)) return false;
  const std::vector<NamedFile> inputs{{"input", line.input}, {"profile", line.profile}};
  if (const std::string why = whyOneFile(inputs, {{"output", line.output}}); !why.empty()) {
    exitCode = fail(Status::Usage, why);
    return false;
  }
  return true;
}

// Sources of the lines after each .loc of the PTX.
std::map<uint32_t, SourceLine> sourcesOf(const Module& module) {
  std::map<uint32_t, SourceLine> sources;
  const auto files = report::Sources(module).files();
  const auto nameOf = [&](uint32_t file) { return files.value(std::to_string(file), std::string()); };
  for (const Function& f : module.functions) {
    const Loc* now = nullptr;
    for (const InstrId id : f) {
      if (const Loc* loc = f.lineOf(f[id])) now = loc;
      if (now == nullptr || !f[id].isInstruction()) continue;
      const auto line = static_cast<uint32_t>(locate(module.source, f[id].sourceBegin).line);
      sources[line] = {nameOf(now->file), now->line};
    }
  }
  return sources;
}

// The cubin of a PTX text; its messages on failure.
bool assembleForTime(const TimeLine& line, std::string_view text, TimeReport& report, std::string& cubin,
                     std::string& error) {
  const std::vector<std::string> target = diff::targetWords(text);
  report.architecture = line.architecture.empty() ? ptxas::architectureToAssemble(target.empty() ? "" : target[0])
                                                  : line.architecture;
  const std::string ptxas = line.assembly.find(text, report.architecture);
  if (ptxas.empty()) {
    error = "there is no ptxas to assemble PTX with; --ptxas names one";
    return false;
  }
  ptxas::Assembly assembly = line.assembly.assemble(text, report.architecture, ptxas);
  if (!assembly || !assembly.output) {
    error = assembly ? "ptxas says too much to be read" : assembly.error;
    return false;
  }
  cubin = std::move(assembly.output->cubin);
  return true;
}

// --profile: what launches of a program were seen to have, or counts of blocks of one run.
struct TimeProfile {
  std::string ofLaunches;  // the file's text
  std::optional<timing::ProfileCounts> ofBlocks;

  bool read(const std::string& path, std::string& error) {
    FileText text;
    if (path.empty()) return true;
    if (!readFile(path, text, error)) return false;
    if (profile::isProfile(text)) {
      ofLaunches = std::string_view(text);
      const auto parsed = profile::parse(ofLaunches, path);
      if (const auto* const wrong = std::get_if<std::string>(&parsed)) error = *wrong;
      return error.empty();
    }
    ofBlocks = timing::readProfile(text, error);
    if (!ofBlocks) error = fmt::format("'{}' is not a profile of ptxopt run: {}", path, error);
    return ofBlocks.has_value();
  }
};

bool addFunctions(const TimeLine& line, std::string_view cubin, const timing::PtxLoops& loops,
                  const TimeProfile& profile, TimeReport& report, std::string& error) {
  ptxas::TimedCubinOptions options;
  options.function = line.kernel;
  options.threads = line.threads;
  options.iterations = line.iterations;
  options.loops = &loops;
  if (profile.ofBlocks) options.profile = &*profile.ofBlocks;
  auto timed = ptxas::timeCubin(cubin, options, error);
  if (!timed) return false;
  report.architecture = std::move(timed->architecture);
  report.figuresOf = timed->figuresOf;
  report.functions = std::move(timed->functions);
  return true;
}

}  // namespace

int timeCommand(int argc, char** argv) {
  TimeLine line;
  int exitCode = 0;
  if (!readTimeLine(argc, argv, line, exitCode)) return exitCode;
  FileText text;
  std::string error;
  if (!readFile(line.input, text, error)) return fail(Status::Usage, error);
  TimeReport report;
  report.file = line.input == "-" ? "<stdin>" : line.input;
  report.iterations = line.iterations.value_or(timing::kAssumedIterations);
  report.profile = line.profile;
  TimeProfile profile;
  if (!profile.read(line.profile, error)) return fail(Status::Usage, error);
  std::string cubin;
  timing::PtxLoops loops;
  if (ptxas::isElf(text)) {
    if (!line.architecture.empty()) return fail(Status::Usage, "a cubin is for one architecture: no --arch");
    if (!line.profile.empty()) return fail(Status::Usage, "--profile needs PTX: its lines and loops are counted");
    cubin = std::string(std::string_view(text));
    report.ptxas = ptxas::ptxasVersionOfCubin(text);
  } else {
    if (!assembleForTime(line, text, report, cubin, error))
      return fail(Status::Usage, fmt::format("'{}': {}", report.file, error));
    report.ptxas = ptxas::ptxasVersionOfCubin(cubin);
    report.ptx = report::splitLines(text);
    // What is not valid PTX by our reading has neither.
    const auto parsed = text::parse(text, report.file);
    if (!std::holds_alternative<text::ParseError>(parsed)) {
      profile::read(profile.ofLaunches, line.profile, *std::get<0>(parsed));
      report.sources = sourcesOf(*std::get<0>(parsed));
      loops = iterations::loopsOf(*std::get<0>(parsed));
    }
  }
  if (!addFunctions(line, cubin, loops, profile, report, error))
    return fail(Status::Usage, fmt::format("'{}': {}", report.file, error));
  const bool isScreen = line.output == "-";
  const std::string out = line.format == "json"
                              ? timeJson(report, line.code)
                              : timeText(report, {.colours = isScreen && hasColours(stdout),
                                                  .width = isScreen ? terminalWidth(stdout, 0) : 0,
                                                  .path = line.path,
                                                  .code = line.code});
  if (!writeFiles({{line.output, out}}, error)) return fail(Status::Usage, error);
  return 0;
}

}  // namespace ptxopt::tool
