// ptxopt baseline DIR|FILE... -o baseline.json: figures to compare with later.
#include "diff/baseline.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <set>

#include "diff/collect.h"
#include "diff/output.h"
#include "diff/ratchet.h"
#include "tool/commands/diff_output.h"
#include "tool/commands/subcommands.h"
#include "tool/files.h"
#include "tool/options/parse_arguments.h"
#include "tool/options/ptxas_options.h"
#include "tool/terminal/messages.h"
#include "tool/terminal/terminal.h"

namespace ptxopt::tool {
namespace {

// Why a side makes no baseline.
std::vector<diff::Problem> problemsOf(const diff::Side& side, const std::vector<std::string>& asked) {
  using Of = diff::Problem::Of;
  std::vector<diff::Problem> problems;
  std::set<std::string> architectures;
  for (const diff::Unit& unit : side.units) {
    if (!unit.error.empty()) problems.push_back({Of::Both, unit.file, unit.measures.architecture, unit.error});
    if (!unit.measures.functions.empty()) architectures.insert(unit.measures.architecture);
  }
  if (!problems.empty()) return problems;
  if (architectures.empty())
    problems.push_back({Of::Both, "", "", fmt::format("there are no kernels in '{}'", side.name)});
  else
    for (const std::string& architecture : asked)
      if (!architectures.contains(architecture)) problems.push_back({Of::Both, "", architecture, "no kernels"});
  return problems;
}

// What a file to append to holds; nothing where there is none.
bool readOldHistory(const std::string& path, std::string& history, std::string& error) {
  if (path == "-") {
    error = "--append needs a file";
    return false;
  }
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return true;
  if (!diff::readBytes(path, history, error)) return false;
  if (history.empty()) return true;
  std::vector<diff::Side> sides;
  if (!diff::readHistory(history, path, sides, error) || !diff::isHistory(history)) {
    error = fmt::format("'{}' is not a history: {}", path, error.empty() ? "it is a baseline" : error);
    return false;
  }
  if (history.back() != '\n') history += '\n';
  return true;
}

std::string summaryOf(const diff::Side& side) {
  std::set<std::string> files, architectures;
  std::set<std::pair<std::string, std::string>> kernels;
  for (const diff::Unit& unit : side.units) {
    files.insert(unit.file);
    architectures.insert(unit.measures.architecture);
    for (const ptxas::FunctionMeasures& f : unit.measures.functions)
      if (f.isKernel) kernels.emplace(unit.file, f.name);
  }
  return fmt::format("{} kernel{} of {} file{} for {}", kernels.size(), kernels.size() == 1 ? "" : "s",
                     files.size(), files.size() == 1 ? "" : "s", fmt::join(architectures, ", "));
}

}  // namespace

int baselineCommand(int argc, char** argv) {
  CLI::App app(
      "ptxopt baseline INPUT... -o BASELINE.json [OPTIONS]\n"
      "Writes what ptxas makes of the kernels of PTX files, cubins, built files, and folders of them into a file "
      "to "
      "commit, for\n"
      "ptxopt diff BASELINE.json INPUT. It has no dates and no paths but relative ones, and a line for each "
      "kernel.\n"
      "With --ratchet OLD.json figures only get better: of the measures that --fail-on names, the better one of "
      "old "
      "and new is kept.\n"
      "Exit codes: 0 ok, 1 a limit that is not kept, or with --ratchet a regression, whose old figures stay, 2 "
      "nothing written: usage, I/O, or "
      "something\n"
      "could not be measured or compared, 4 internal error.",
      "ptxopt baseline");
  app.get_formatter()->column_width(34);
  std::vector<std::string> inputs;
  std::string output, old, failOnText, label;
  bool isAppended = false;
  PtxasLine ptxas;
  LimitLine limits;
  app.add_option("INPUT", inputs, "PTX files, cubins, built files, folders")->required();
  app.add_option("-o,--output", output, "where the baseline goes; - is standard output")
      ->type_name("FILE")
      ->required();
  app.add_option("--ratchet", old, "a baseline to improve on; it may be the output itself")->type_name("OLD.json");
  app.add_flag(
      "--append", isAppended,
      "the output is a history, a baseline a line, and this one is put at its end: for diff --html --history");
  app.add_option("--label", label, "what it is called in the history, such as a commit")->type_name("TEXT");
  app.get_option("--label")->needs("--append");
  addFailOn(app, failOnText);
  ptxas.addCompileTime(app);
  limits.addTo(app);
  app.get_option("--fail-on")->needs("--ratchet");
  ptxas.addTo(app);
  int exitCode = 0;
  if (!parseArguments(app, argc, argv, exitCode)) return exitCode;

  std::string error;
  const auto failOn = failOnOf(app, failOnText, error);
  if (!failOn) return fail(Status::Usage, error);
  const auto bounds = limits.bounds(error);
  if (!bounds) return fail(Status::Usage, error);
  std::string history;
  if (isAppended && !readOldHistory(output, history, error)) return fail(Status::Usage, error);
  diff::MeasureOptions options;
  if (!ptxas.options(options, error)) return fail(Status::Usage, error);
  options.measuresTime = ptxas.compileTime || asksForTime(*failOn, *bounds);
  // The old baseline is a side too, as it says which architectures there are.
  std::array<diff::Collected, 2> sides;
  diff::Collected &before = sides[0], &now = sides[1];
  for (const std::string& input : inputs)
    if (!collectMore(input, now, error)) return fail(Status::Usage, error);
  for (const std::string& file : limits.files)
    if (error = whyOneFile({{"limits", file}}, {{"output", output}}); !error.empty())
      return fail(Status::Usage, error);
  if (!ptxas.keep(now, error)) return fail(Status::Usage, error);
  for (const diff::Source& source : now.sources)
    if (error = whyOneFile({{"input", source.path}}, {{"output", output}}); !error.empty())
      return fail(Status::Usage, error);
  if (!old.empty()) {
    if (!collect(old, before, error)) return fail(Status::Usage, error);
    if (!before.isBaseline) return fail(Status::Usage, fmt::format("'{}' is not a baseline", old));
  }
  if (error = whyNoPtxas(sides, options); !error.empty()) return fail(Status::Usage, error);
  measure(old.empty() ? std::span(sides).last(1) : std::span(sides), options);

  auto problems = problemsOf(now.side, options.architectures);
  diff::Ratcheted ratcheted{now.side};
  const auto show = [&](const diff::Result& result) {
    problems = result.problems;
    const std::size_t width = terminalWidth(stderr, 80);
    printAsked(diffText(result, {.colours = hasColours(stderr),
                                 .width = width,
                                 .tableWidth = width,
                                 .columns = {},
                                 .code = {},
                                 .nameWidth = 40}));
    if (result.hasRegression()) exitCode = static_cast<int>(Status::CheckFailed);
  };
  if (!old.empty() && problems.empty()) {
    show(compareSides(before.side, now.side, *failOn, options.architectures, *bounds));
    ratcheted = ratchet(before.side, now.side, *failOn);
  } else if (!bounds->empty() && problems.empty()) {
    show(checkSide(now.side, options.architectures, *bounds));
  }
  if (!problems.empty()) {
    printProblems("baseline", problems);
    return static_cast<int>(Status::Usage);
  }
  const std::string text =
      isAppended ? history + writeHistoryLine(ratcheted.side, label) : writeBaseline(ratcheted.side);
  if (!writeFiles({{output, text}}, error)) return fail(Status::Usage, error);
  std::string message = fmt::format("ptxopt baseline: {}", summaryOf(ratcheted.side));
  if (!old.empty())
    message +=
        fmt::format("; {} tightened, {} with worse figures keep the old ones", ratcheted.tightened, ratcheted.kept);
  printAsked(message + "\n");
  return exitCode;
}

}  // namespace ptxopt::tool
