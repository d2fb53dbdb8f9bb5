// ptxopt diff A B: what ptxas makes of two sets of kernels, side by side.
#include "diff/diff.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>

#include "diff/baseline.h"
#include "diff/built.h"
#include "diff/collect.h"
#include "diff/output.h"
#include "diff/show_code.h"
#include "tool/commands/diff_output.h"
#include "tool/commands/diff_page.h"
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

constexpr std::size_t kTextWidth = 80;  // where there is no terminal

struct DiffLine {
  std::array<std::string, 2> paths;
  std::string failOn, format = "text", output = "-", markdown, json, junit, html;
  PtxasLine ptxas;
  LimitLine limits;
  bool all = false, mangled = false, showCode = false;
  std::size_t nameWidth = 0;
  std::vector<DiffFigure> columns;
  std::string code;                // what --show-code shows
  std::vector<std::string> codes;  // by row, likewise
  std::vector<std::string> history;
  std::vector<diff::Side> versions;  // of `history`
  std::vector<std::string> pairs;
  bool noSimilar = false;
  std::string against;
};

std::string render(const diff::Result& result, const DiffLine& line, const std::string& format, const CLI::App& app,
                   bool isScreen, const std::string& toolchains) {
  if (format == "json") return writeJson(result);
  if (format == "junit") return writeJunit(result);
  if (format == "html") return diffPage(result, line.codes, line.versions);
  DiffOutputOptions options;
  options.all = line.all;
  options.columns = line.columns;
  options.mangled = line.mangled;
  options.nameWidth = app.get_option("--name-width")->count() != 0 ? line.nameWidth : format == "text" ? 40 : 100;
  if (format == "markdown")
    return diffMarkdown(result, options) + (toolchains.empty() ? "" : "\n```\n" + toolchains + "```\n");
  options.code = line.code;
  options.colours = isScreen && hasColours(stdout);
  options.width = isScreen ? terminalWidth(stdout, kTextWidth) : kTextWidth;
  // Who says how long names are has them so.
  options.tableWidth = app.get_option("--name-width")->count() != 0 ? 0 : options.width;
  return diffText(result, options) + (toolchains.empty() ? "" : "\n" + toolchains);
}

}  // namespace

int diffCommand(int argc, char** argv) {
  CLI::App app(
      "ptxopt diff A [B] [OPTIONS]\n"
      "ptxopt diff A --ptxas PROGRAM --against-ptxas PROGRAM [OPTIONS]\n"
      "Compares what ptxas makes of two sets of kernels: registers, spills, stack, machine instructions, resident "
      "warps, modelled cycles.\n"
      "A and B are PTX files, cubins, built files (programs, libraries, objects, fat binaries), folders of them "
      "(matched by "
      "relative path and kernel name), or baselines that ptxopt baseline wrote.\n"
      "Exit codes: 0 no regression, 1 a regression or a limit that is not kept, 2 something could not be compared "
      "(or usage, or I/O), 4 "
      "internal "
      "error.",
      "ptxopt diff");
  app.get_formatter()->column_width(34);
  app.footer(
      "Examples:\n"
      "  ptxopt diff before.ptx after.ptx\n"
      "  ptxopt diff baseline.json build/ --fail-on spills,warps,sass:2% \\\n"
      "      --markdown comment.md --junit report.xml\n"
      "  ptxopt diff build/ --limit 'spills<=0' --limit 'attention*:registers<=128'\n"
      "  ptxopt diff old/ new/ --fail-on regs            # on register counts alone\n"
      "  ptxopt diff old/ new/ --arch sm_80,sm_90\n"
      "  ptxopt diff kernels/ --compile-time         # which takes ptxas longest\n"
      "  ptxopt diff kernels/ --ptxas 12.9 --against-ptxas 13.0    # two toolchains");
  DiffLine line;
  std::string columns;
  app.add_option("A", line.paths[0], "what there was; - is standard input")->required();
  app.add_option(
      "B", line.paths[1],
      "what there is now; without it the limits of A are checked, its compile times shown, or with --against-ptxas "
      "two ptxas compared");
  addFailOn(app, line.failOn);
  line.ptxas.addCompileTime(app);
  line.limits.addTo(app);
  app.add_option("--format", line.format, "text, markdown, json, junit or html [text]")
      ->check(CLI::IsMember({"text", "markdown", "json", "junit", "html"}))
      ->type_name("FORMAT");
  app.add_option("-o,--output", line.output, "where that goes [standard output]")->type_name("FILE");
  app.add_option("--markdown", line.markdown, "write this besides")->type_name("FILE");
  app.add_option("--json", line.json, "and this")->type_name("FILE");
  app.add_option("--junit", line.junit, "and this")->type_name("FILE");
  app.add_option("--html", line.html, "and this: a page with all kernels, to sort and to filter")
      ->type_name("FILE");
  app.add_option("--history", line.history, "baselines of older versions, the oldest first, or histories; for html")
      ->type_name("BASELINE");
  app.add_flag("--all", line.all, "also kernels that did not change, in text and markdown");
  app.add_flag("--mangled", line.mangled, "names as the PTX has them, in text and markdown");
  app.add_option("--name-width", line.nameWidth,
                 "shorten names of more characters; 0: none [40 in text, 100 in markdown]")
      ->type_name("N")
      ->check(wholeNumber());
  app.add_option(
         "--columns", columns,
         "these figures, in text and markdown: regs, spills, stack, sass, inner, warps, cycles, shared, notes, "
         "compile-time")
      ->type_name("FIGURE,...");
  app.add_flag("--show-code", line.showCode,
               "also the machine code of both sides where it differs, aligned; in text and html");
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
  diff::MeasureOptions options;
  if (!line.ptxas.options(options, error) || !programOf(line.against, error)) return fail(Status::Usage, error);
  options.against = line.against;
  options.keepsCode = line.showCode;
  if (app.get_option("--columns")->count() != 0) {
    const auto wanted = parseColumns(columns, error);
    if (!wanted) return fail(Status::Usage, error);
    line.columns = *wanted;
  }
  const auto bounds = line.limits.bounds(error);
  if (!bounds) return fail(Status::Usage, error);
  options.measuresTime = line.ptxas.compileTime || asksForTime(*failOn, *bounds) ||
                         std::ranges::find(line.columns, DiffFigure::CompileTime) != line.columns.end();
  const bool twoToolchains = !line.against.empty();
  if (twoToolchains && line.paths[1].empty()) line.paths[1] = line.paths[0];
  const bool isOneSide = line.paths[1].empty();
  if (isOneSide && !line.limits.isGiven() && !options.measuresTime)
    return fail(Status::Usage, "there is nothing to compare with, and no --limit to check");
  if (isOneSide && (line.showCode || app.get_option("--fail-on")->count() != 0))
    return fail(Status::Usage, "--fail-on and --show-code are of two sides");
  std::vector<diff::Collected> sides(isOneSide ? 1 : 2);
  for (std::size_t i = 0; i < sides.size(); ++i)
    if (i == 1 && line.paths[1] == line.paths[0])
      sides[1] = sides[0];  // standard input is there once
    else if (!collect(line.paths[i], sides[i], error))
      return fail(Status::Usage, error);
  for (diff::Collected& side : sides) {
    if (!line.ptxas.keep(side, error)) return fail(Status::Usage, error);
    if (twoToolchains && (side.isBaseline || !diff::keepOnly(side.sources, true)))
      return fail(Status::Usage, fmt::format("there is no PTX in '{}' for --against-ptxas", side.side.name));
  }
  const bool isHtml = line.format == "html" || !line.html.empty();
  if (!line.history.empty() && !isHtml) return fail(Status::Usage, "--history is for --html and --format html");
  for (const std::string& path : line.history) {
    std::string text;
    if (!diff::readBytes(path, text, error)) return fail(Status::Usage, error);
    if (!diff::readHistory(text, path, line.versions, error))
      return fail(Status::Usage, fmt::format("'{}' is not a baseline: {}", path, error));
  }
  std::vector<NamedFile> inputs{{"input", line.paths[0]}};
  for (const std::string& file : line.history) inputs.push_back({"history", file});
  if (!isOneSide) inputs.push_back({"input", line.paths[1]});
  for (const std::string& file : line.limits.files) inputs.push_back({"limits", file});
  for (const diff::Collected& side : sides)
    for (const diff::Source& source : side.sources) inputs.push_back({"input", source.path});
  error = whyOneFile(inputs, {{"output", line.output},
                              {"output", line.markdown},
                              {"output", line.json},
                              {"output", line.junit},
                              {"output", line.html}});
  if (!error.empty()) return fail(Status::Usage, error);
  if (error = whyNoPtxas(sides, options); !error.empty()) return fail(Status::Usage, error);
  measure(sides, options);
  const Toolchains toolchains{options.ptxas.program, options.against, options.ptxas.arguments, line.paths[1]};
  const diff::Result result =
      isOneSide ? checkSide(sides[0].side, options.architectures, *bounds)
                : compareSides(sides[0].side, sides[1].side, *failOn, options.architectures, *bounds, pairing);

  if (line.showCode) line.code = showCode(result, sides[0].side, sides[1].side);
  if (line.showCode && isHtml) line.codes = codeOfRows(result, sides[0].side, sides[1].side);

  printProblems("diff", result.problems);

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
  add(line.html, "html");
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
