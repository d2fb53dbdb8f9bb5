// ptxopt on the command line: a thin user of the library.
#include "tool/run_tool.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <span>

#include "dump/dump.h"
#include "facts/facts.h"
#include "passes/manager/pass.h"
#include "ptxopt/ptxopt.h"
#include "support/heap.h"
#include "support/log.h"
#include "support/nearest.h"
#include "support/process_time.h"
#include "text/parse.h"
#include "tool/commands/in_place.h"
#include "tool/commands/optimize_text.h"
#include "tool/commands/subcommands.h"
#include "tool/files.h"
#include "tool/manual/completion.h"
#include "tool/manual/describe.h"
#include "tool/manual/lists.h"
#include "tool/manual/manual.h"
#include "tool/options/command_line.h"
#include "tool/options/config.h"
#include "tool/terminal/function_progress.h"
#include "tool/terminal/messages.h"
#include "wrapper/client.h"
#include "wrapper/nvcc.h"

namespace ptxopt::tool {
namespace {

int optimizeFile(const CommandLine& line) {
  const ProcessWatch watch(line.timeReport);
  FileText text;
  std::string error;
  prepareHeap(std::span(&line.input, 1));
  if (!readFile(line.input, text, error)) return fail(Status::Usage, error);
  Optimized optimized;
  {
    FunctionProgress progress(line.guard.mode != guard::GuardMode::Off);
    Options options = line.options;
    if (progress.isShown()) options.progress = [&](std::size_t done, std::size_t all) { progress.show(done, all); };
    optimized = optimizeText(text, line, options);
  }
  for (const log::Lines& message : optimized.messages)
    log::writeLines(message.level, *message.source, message.text);
  if (optimized.status != Status::Ok) {
    printError(optimized.error);
    return static_cast<int>(optimized.status);
  }
  const Result& result = optimized.result;

  // The dumps are of the text that comes out, so that their lines are its lines.
  std::string dumps;
  if (!line.dumps.empty()) {
    const auto parsed = text::parse(result.output, line.options.fileName, line.options.optixExternals);
    // Right for the input: right here. The text says them of copies only, not of the kernels that they were made of.
    facts::readFacts(line.specialize.empty() ? line.options.facts : "", line.options.factsName,
                     *std::get<0>(parsed));
    if (const auto* wrong = std::get_if<text::ParseError>(&parsed)) return fail(Status::Internal, wrong->message);
    Knobs knobs;  // optimizing has checked them
    for (const auto& [name, value] : line.options.knobs) knobs.set(name, value);
    dumps = dump::dump(*std::get<0>(parsed), dump::findDumps(line.dumps, error), line.options.architecture,
                       livenessLimits(knobs));
  }

  std::vector<OutputFile> files;
  if (line.writesOutput) files.push_back({line.output, result.output});
  if (!line.dumps.empty()) files.push_back({line.dumpFile, dumps});
  if (!line.report.empty()) files.push_back({line.report, result.reportJson});
  if (!writeFiles(files, error)) return fail(Status::Usage, error);
  if (line.stats) printAsked(statistics(result));
  if (line.timeReport) {
    optimized.times.cpuSeconds = processSeconds();
    optimized.times.wallSeconds = watch.wallSeconds();
    printAsked(timeReport(result, optimized.times));
  }
  return 0;
}

// The command that is meant by a word that is none, and no file.
std::string commandMeant(std::string_view word) {
  std::error_code none;
  if (word.find_first_of("./-") != std::string_view::npos || std::filesystem::exists(word, none)) return {};
  std::vector<std::string_view> names;
  for (const Subcommand& command : subcommands()) names.push_back(command.name);
  return nearest(word, names);
}

int run(int argc, char** argv) {
  // Links of such names to the program are `ptxopt as`.
  if (argc > 0 && !wrapper::ptxasMeantBy(argv[0]).empty()) return asCommand(argc, argv);
  if (argc > 1 && std::string_view(argv[1]) == "help" &&
      (argc == 2 || (argc == 3 && findSubcommand(argv[2]) != nullptr))) {  // as git has it
    std::string help = "--help";
    std::array<char*, 3> words{argv[0], argc == 3 ? argv[2] : help.data(), help.data()};
    return run(argc, words.data());
  }
  if (argc > 2 && wrapper::isNvcc(argv[1]) && findSubcommand(argv[1]) == nullptr) {
    printError(fmt::format(
        "ptxopt: '{}' is a compiler: ptxopt nvcc calls it, in CMake as the launcher \"ptxopt;nvcc\"\n", argv[1]));
    return static_cast<int>(Status::Usage);
  }
  const Config& config = userConfig();
  const Subcommand* const command = argc > 1 ? findSubcommand(argv[1]) : nullptr;
  if (command != nullptr && command->toleratesConfig) return command->run(argc - 1, argv + 1);
  if (!config.mistakes.empty()) {
    printError(config.mistakes.front() + "\n");
    return static_cast<int>(Status::Usage);
  }
  if (command != nullptr) return command->run(argc - 1, argv + 1);
  if (const std::string meant = argc > 1 ? commandMeant(argv[1]) : std::string(); !meant.empty()) {
    printError(fmt::format("ptxopt: '{}' is not a command or a file; is {} meant?\n", argv[1], meant));
    return static_cast<int>(Status::Usage);
  }

  CommandLine line;
  int exitCode = 0;
  if (!readCommandLine(argc, argv, line, exitCode)) return exitCode;
  switch (line.action) {
    case CommandLine::Action::ListPasses: printResult(listPasses()); return 0;
    case CommandLine::Action::ListPipeline: printResult(listPipeline()); return 0;
    case CommandLine::Action::ListKnobs: printResult(listKnobs(false)); return 0;
    case CommandLine::Action::ListTestKnobs: printResult(listKnobs(true)); return 0;
    case CommandLine::Action::ListOpcodes: printResult(listOpcodes()); return 0;
    case CommandLine::Action::PrintCompletion: printResult(completion(line.shell, describeCommands())); return 0;
    case CommandLine::Action::WriteManual: return writeManual(line.manualFolder);
    case CommandLine::Action::Optimize: break;
  }
  return line.inPlace ? optimizeInPlace(line) : optimizeFile(line);
}

}  // namespace

int runTool(int argc, char** argv) { return runGuarded(run, argc, argv); }

}  // namespace ptxopt::tool
