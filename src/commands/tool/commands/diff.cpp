// ptxopt diff A B: what ptxas makes of two sets of kernels, side by side.
#include "diff/diff.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>

#include "diff/built.h"
#include "diff/collect.h"
#include "diff/output.h"
#include "tool/commands/diff_output.h"
#include "tool/commands/diff_toolchains.h"
#include "tool/commands/subcommands.h"
#include "tool/files.h"
#include "tool/options/number_checks.h"
#include "tool/options/parse_arguments.h"
#include "tool/options/ptxas_options.h"
#include "tool/terminal/messages.h"
#include "tool/terminal/terminal.h"

namespace ptxopt::tool {
namespace {

constexpr std::size_t kMostMessages = 20;

struct DiffLine {
  std::array<std::string, 2> paths;
  std::string failOn, format = "text", output = "-", markdown, json, junit;
  PtxasLine ptxas;
  bool all = false, mangled = false;
  std::size_t nameWidth = 0;
  std::vector<std::string> pairs;
  bool noSimilar = false;
  std::string against;
};

std::string render(const diff::Result& result, const DiffLine& line, const std::string& format, const CLI::App& app,
                   bool isScreen, const std::string& toolchains) {
  if (format == "json") return writeJson(result);
  if (format == "junit") return writeJunit(result);
  DiffOutputOptions options;
  options.all = line.all;
  options.mangled = line.mangled;
  options.nameWidth = app.get_option("--name-width")->count() != 0 ? line.nameWidth : format == "text" ? 40 : 100;
  if (format == "markdown")
    return diffMarkdown(result, options) + (toolchains.empty() ? "" : "\n```\n" + toolchains + "```\n");
  options.colours = isScreen && hasColours(stdout);
  options.width = isScreen ? terminalWidth(stdout, 0) : 0;
  return diffText(result, options) + (toolchains.empty() ? "" : "\n" + toolchains);
}

}  // namespace

int diffCommand(int argc, char** argv) {
  CLI::App app(
      "ptxopt diff A B [OPTIONS]\n"
      "ptxopt diff A --ptxas PROGRAM --against-ptxas PROGRAM [OPTIONS]\n"
      "Compares what ptxas makes of two sets of kernels: registers, spills, stack, machine instructions, resident "
      "warps, modelled cycles.\n"
      "A and B are PTX files, cubins, built files (programs, libraries, objects, fat binaries), folders of them "
      "(matched by "
      "relative path and kernel name), or baselines that ptxopt baseline wrote.\n"
      "Exit codes: 0 no regression, 1 a regression, 2 something could not be compared (or usage, or I/O), 4 "
      "internal "
      "error.",
      "ptxopt diff");
  app.get_formatter()->column_width(34);
  app.footer(
      "Examples:\n"
      "  ptxopt diff before.ptx after.ptx\n"
      "  ptxopt diff baseline.json build/ --fail-on spills,warps,sass:2% \\\n"
      "      --markdown comment.md --junit report.xml\n"
      "  ptxopt diff old/ new/ --fail-on regs            # on register counts alone\n"
      "  ptxopt diff old/ new/ --arch sm_80,sm_90\n"
      "  ptxopt diff kernels/ --ptxas 12.9 --against-ptxas 13.0    # two toolchains");
  DiffLine line;
  app.add_option("A", line.paths[0], "what there was; - is standard input")->required();
  app.add_option("B", line.paths[1], "what there is now; not needed with --against-ptxas");
  addFailOn(app, line.failOn);
  app.add_option("--format", line.format, "text, markdown, json or junit [text]")
      ->check(CLI::IsMember({"text", "markdown", "json", "junit"}))
      ->type_name("FORMAT");
  app.add_option("-o,--output", line.output, "where that goes [standard output]")->type_name("FILE");
  app.add_option("--markdown", line.markdown, "write this besides")->type_name("FILE");
  app.add_option("--json", line.json, "and this")->type_name("FILE");
  app.add_option("--junit", line.junit, "and this")->type_name("FILE");
  app.add_flag("--all", line.all, "also kernels that did not change, in text and markdown");
  app.add_flag("--mangled", line.mangled, "names as the PTX has them, in text and markdown");
  app.add_option("--name-width", line.nameWidth,
                 "shorten names of more characters; 0: none [40 in text, 100 in markdown]")
      ->type_name("N")
      ->check(wholeNumber());
  app.add_option(
         "--pair", line.pairs,
         "compare the kernel OLD of A with NEW of B, mangled or as the source has them; * is any text, and the "
         "same in both; several times for several")
      ->type_name("OLD=NEW")
      ->allow_extra_args(false);
  app.add_flag("--no-similar", line.noSimilar, "do not pair kernels because their names are similar");
  line.ptxas.addTo(app);
  app.add_option("--against-ptxas", line.against,
                 "compare what two ptxas make of the PTX of A: --ptxas before, this after; a program, or a version "
                 "such as 13.0")
      ->type_name("PROGRAM")
      ->group("How PTX is assembled");
  int exitCode = 0;
  if (!parseArguments(app, argc, argv, exitCode)) return exitCode;

  std::string error;
  const auto failOn = failOnOf(app, line.failOn, error);
  if (!failOn) return fail(Status::Usage, error);
  diff::MatchOptions pairing{{}, !line.noSimilar};
  for (const std::string& text : line.pairs) {
    auto rule = diff::parsePair(text, error);
    if (!rule) return fail(Status::Usage, error);
    pairing.pairs.push_back(*std::move(rule));
  }
  const bool twoToolchains = !line.against.empty(), isOne = line.paths[1].empty();
  if (isOne && !twoToolchains) return fail(Status::Usage, "B is required");
  diff::MeasureOptions options;
  if (!line.ptxas.options(options, error) || !programOf(line.against, error)) return fail(Status::Usage, error);
  options.against = line.against;
  std::array<diff::Collected, 2> sides;
  for (std::size_t i = 0; i < 2; ++i)
    if (i == 1 && isOne)
      sides[1] = sides[0];
    else if (!collect(line.paths[i], sides[i], error))
      return fail(Status::Usage, error);
  if (isOne) line.paths[1] = line.paths[0];
  for (diff::Collected& side : sides) {
    if (!line.ptxas.keep(side, error)) return fail(Status::Usage, error);
    if (twoToolchains && (side.isBaseline || !diff::keepOnly(side.sources, true)))
      return fail(Status::Usage, fmt::format("there is no PTX in '{}' for --against-ptxas", side.side.name));
  }
  std::vector<NamedFile> inputs{{"input", line.paths[0]}, {"input", line.paths[1]}};
  for (const diff::Collected& side : sides)
    for (const diff::Source& source : side.sources) inputs.push_back({"input", source.path});
  error = whyOneFile(
      inputs, {{"output", line.output}, {"output", line.markdown}, {"output", line.json}, {"output", line.junit}});
  if (!error.empty()) return fail(Status::Usage, error);
  if (error = whyNoPtxas(sides, options); !error.empty()) return fail(Status::Usage, error);
  measure(sides, options);
  const Toolchains toolchains{options.ptxas.program, options.against, options.ptxas.arguments, line.paths[1]};
  const diff::Result result = compareSides(sides[0].side, sides[1].side, *failOn, options.architectures, pairing);

  for (std::size_t i = 0; i < std::min(result.problems.size(), kMostMessages); ++i)
    printError(fmt::format("ptxopt diff: error: {}\n", text(result.problems[i])));
  if (result.problems.size() > kMostMessages)
    printError(fmt::format("ptxopt diff: error: and {} more\n", result.problems.size() - kMostMessages));

  std::vector<std::string> texts;
  std::vector<OutputFile> files;
  const auto add = [&](const std::string& path, const std::string& format) {
    if (path.empty()) return;
    texts.push_back(render(result, line, format, app, path == "-",
                           twoToolchains ? toolchainSummary(result, toolchains, line.mangled) : ""));
    files.push_back({path, {}});
  };
  add(line.output, line.format);
  add(line.markdown, "markdown");
  add(line.json, "json");
  add(line.junit, "junit");
  for (std::size_t i = 0; i < files.size(); ++i) files[i].text = texts[i];
  if (!writeFiles(files, error)) return fail(Status::Usage, error);
  switch (result.verdict()) {
    case diff::Result::Verdict::Ok: return 0;
    case diff::Result::Verdict::Regression: return static_cast<int>(Status::CheckFailed);
    case diff::Result::Verdict::NotCompared: break;
  }
  return static_cast<int>(Status::Usage);
}

}  // namespace ptxopt::tool
