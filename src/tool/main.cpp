// ptxopt on the command line: a thin user of the library.
#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <ctime>
#include <new>
#include <regex>

#include "dump/dump.h"
#include "guard/report.h"
#include "ptxopt/ptxopt.h"
#include "text/parse.h"
#include "tool/command_line.h"
#include "tool/files.h"
#include "tool/lists.h"
#include "tool/messages.h"
#include "tool/subcommands.h"
#include "tool/verify_output.h"

namespace ptxopt::tool {
namespace {

double processSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

int optimizeFile(const CommandLine& line) {
  auto log = spdlog::stderr_color_mt("ptxopt");
  log->set_pattern("ptxopt: %v");
  log->set_level(line.verbose ? spdlog::level::info : spdlog::level::warn);

  FileText text;
  std::string error;
  if (!readFile(line.input, text, error)) return fail(Status::Usage, error);
  log->info("{}: {} bytes", line.options.fileName, text.size);

  const GuardedResult guarded = optimizeGuarded(text, line.options, line.guard);
  const Result& result = guarded.result;
  if (result.status != Status::Ok) {
    if (result.status == Status::Usage)
      return fail(Status::Usage, std::string_view(result.error).substr(0, result.error.size() - 1));
    printMessage(result.error);
    return static_cast<int>(result.status);
  }

  print(stderr, result.dumps);
  for (const Remark& remark : result.remarks) {
    if (remark.name == "unknown-opcode") {
      if (line.warnUnknown) print(stderr, fmt::format("{}: warning: {}\n", remark.place, remark.message));
    } else if (!remark.pass.empty()) {
      const std::string& wanted = remark.missed ? line.remarksMissed : line.remarks;
      if (!wanted.empty() && std::regex_match(remark.pass, std::regex(wanted)))
        print(stderr, fmt::format("{}: remark: {} [-Rpass{}={}]\n", remark.place, remark.message,
                                  remark.missed ? "-missed" : "", remark.pass));
    } else if (remark.name == "uninitialised-register") {
      if (line.warnUninitialised)
        print(stderr, fmt::format("{}: warning: {} [-Wuninitialised]\n", remark.place, remark.message));
    } else {
      log->info("{}: {} [{}]", remark.place, remark.message, remark.name);
    }
  }
  if (!guarded.guard.trouble.empty() || line.verbose || line.stats)
    print(stderr, guardMessages(guarded.guard, line.options.fileName));
  log->info("{} functions, {} instructions -> {}, for {}", result.functions, result.instructions,
            result.instructionsAfter, result.architecture);

  if (line.verify) {
    const OutputCheck check = verifyOutput(text, line.options.fileName, result.output, line.options.jobs);
    for (const std::string& message : check.notCompared) log->warn("warning: {}", message);
    if (!check.difference.empty()) {
      printMessage(fmt::format("{}: error: {}", line.options.fileName, check.difference));
      return static_cast<int>(Status::CheckFailed);
    }
  }

  // The dumps are of the text that comes out, so that their lines are its lines.
  std::string dumps;
  if (!line.dumps.empty()) {
    const auto parsed = parse(result.output, line.options.fileName);
    if (const auto* wrong = std::get_if<ParseError>(&parsed)) return fail(Status::Internal, wrong->message);
    dumps = dump(*std::get<0>(parsed), findDumps(line.dumps, error), line.options.architecture);
  }

  std::vector<OutputFile> files;
  if (line.writesOutput) files.push_back({line.output, result.output});
  if (!line.dumps.empty()) files.push_back({line.dumpFile, dumps});
  if (!line.report.empty()) files.push_back({line.report, result.reportJson});
  if (!writeFiles(files, error)) return fail(Status::Usage, error);
  if (line.stats) print(stderr, statistics(result));
  if (line.timeReport) print(stderr, timeReport(result, processSeconds()));
  return 0;
}

// Links of these names to the program are `ptxopt as`.
bool isCalledAsPtxas(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  return name == "ptxas" || name == "ptxopt-ptxas";
}

int run(int argc, char** argv) {
  if (argc > 0 && isCalledAsPtxas(argv[0])) return asCommand(argc, argv);
  if (argc > 1)
    if (const Subcommand* command = findSubcommand(argv[1])) return command->run(argc - 1, argv + 1);

  CommandLine line;
  int exitCode = 0;
  if (!readCommandLine(argc, argv, line, exitCode)) return exitCode;
  switch (line.action) {
    case CommandLine::Action::ListPasses: print(stdout, listPasses()); return 0;
    case CommandLine::Action::ListKnobs: print(stdout, listKnobs()); return 0;
    case CommandLine::Action::ListOpcodes: print(stdout, listOpcodes()); return 0;
    case CommandLine::Action::Optimize: break;
  }
  return optimizeFile(line);
}

}  // namespace
}  // namespace ptxopt::tool

int main(int argc, char** argv) {
  using namespace ptxopt;
  try {
    return tool::run(argc, argv);
  } catch (const std::bad_alloc&) {
    return tool::fail(Status::Usage, "out of memory");
  } catch (const std::exception& e) {
    return tool::fail(Status::Internal, e.what());
  }
}
