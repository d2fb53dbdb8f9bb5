// ptxopt report K.ptx -o report.html: the register pressure and the modelled time of each kernel as a page.
#include "report/report.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "iterations/ptx_loops.h"
#include "ptxas/find.h"
#include "ptxas/timed_cubin.h"
#include "ptxopt/ptxopt.h"
#include "report/source_files.h"
#include "support/log.h"
#include "target/occupancy.h"
#include "text/parse.h"
#include "tool/commands/subcommands.h"
#include "tool/files.h"
#include "tool/options/architecture_option.h"
#include "tool/options/line_assembly.h"
#include "tool/options/parse_arguments.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {
namespace {

namespace fs = std::filesystem;

struct ReportLine {
  std::string input, output, architecture;
  std::vector<std::string> sourceRoots;
  LineAssembly assembly;
  bool noPtxas = false, noSource = false;
};

bool readReportLine(int argc, char** argv, ReportLine& line, int& exitCode) {
  CLI::App app(
      "ptxopt report INPUT -o OUTPUT.html [OPTIONS]\n"
      "Writes one page that shows the register pressure along each kernel, what is live at a point, the loops, "
      "the\n"
      "PTX with its source lines, the occupancy, and, where there is a ptxas, the modelled time of each loop and "
      "line.\n"
      "It needs no network; any browser shows it from a file.\n"
      "Exit codes: 0 ok, 2 usage or I/O, 3 not valid PTX, 4 internal error.",
      "ptxopt report");
  app.add_option("INPUT", line.input, "PTX file; - is standard input")->required();
  app.add_option("-o,--output", line.output, "where the page goes; - is standard output")
      ->type_name("FILE.html")
      ->required();
  addArchitecture(app, line.architecture, "for this one instead of the file's .target");
  CLI::Option* const ptxas = line.assembly.addTo(app);
  app.add_flag("--no-ptxas", line.noPtxas, "do not ask ptxas")->excludes(ptxas);
  CLI::Option* const noSource = app.add_flag("--no-source", line.noSource, "leave out the text of source lines");
  app.add_option("--source-root", line.sourceRoots,
                 "copy lines of source files below this folder too, not only below the folder of the PTX and the "
                 "current one; repeatable")
      ->type_name("FOLDER")
      ->expected(1)
      ->take_all()
      ->excludes(noSource)
      ->check(CLI::Validator(CLI::ExistingDirectory).description(""));
  if (!parseArguments(app, argc, argv, exitCode)) return false;
  if (const std::string why = whyOneFile({{"input", line.input}}, {{"output", line.output}}); !why.empty()) {
    exitCode = fail(Status::Usage, why);
    return false;
  }
  const std::string& program = line.assembly.program;
  if (const std::string why = program.empty() ? std::string() : ptxas::whyNoProgram("--ptxas", program);
      !why.empty()) {
    exitCode = fail(Status::Usage, why);
    return false;
  }
  return true;
}

// Asks ptxas if there is one. What keeps it from a result is for the reader of the page to know.
// False, with an error, where temporary files cannot be written.
bool ask(const ReportLine& line, const Module& module, report::ReportOptions& options) {
  if (line.noPtxas) return true;
  const std::string ptxas = line.assembly.find(module.source, options.architecture);
  if (ptxas.empty()) {
    options.notes.emplace_back("There is no ptxas to ask: register counts are estimates.");
    return true;
  }
  // The cache has figures alone; the model of time is for the code.
  ptxas::Assembly assembly = line.assembly.assemble(module.source, options.architecture, ptxas);
  if (assembly.status == ptxas::Assembly::Status::NoFolder) {
    fail(Status::Usage, assembly.error);
    return false;
  }
  if (!assembly) {
    options.notes.push_back(fmt::format("ptxas gave no counts: {}", assembly.error));
    log::warn(log::kTool, fmt::format("no counts from ptxas: {}", assembly.error));
    return true;
  }
  options.ptxas = std::move(assembly.measures);
  options.ptxasVersion = ptxas::versionOfPtxas(ptxas);
  if (!assembly.output) return true;
  const timing::PtxLoops loops = iterations::loopsOf(module);
  ptxas::TimedCubinOptions how;
  how.loops = &loops;
  std::string none;  // an architecture that the model does not know: the page is the same without
  if (auto time = ptxas::timeCubin(assembly.output->cubin, how, none)) options.time = *std::move(time);
  return true;
}

}  // namespace

int reportCommand(int argc, char** argv) {
  ReportLine line;
  int exitCode = 0;
  if (!readReportLine(argc, argv, line, exitCode)) return exitCode;
  FileText text;
  std::string error;
  if (!readFile(line.input, text, error)) return fail(Status::Usage, error);
  const std::string fileName = line.input == "-" ? "<stdin>" : line.input;
  const auto parsed = text::parse(text, fileName);
  if (const auto* wrong = std::get_if<text::ParseError>(&parsed)) {
    printError(text::render(*wrong, fileName));
    return static_cast<int>(Status::InvalidInput);
  }
  const Module& module = *std::get<0>(parsed);
  report::ReportOptions options;
  options.architecture = line.architecture.empty() ? std::string(module.architecture()) : line.architecture;
  if (!line.architecture.empty() && target::Target(line.architecture).limits() == nullptr)
    return fail(Status::Usage, fmt::format("the architecture '{}' is not known", line.architecture));
  options.version = version();
  if (!ask(line, module, options)) return static_cast<int>(Status::Usage);
  report::SourceFiles sources(fs::path(line.input == "-" ? "" : line.input).parent_path(),
                              {line.sourceRoots.begin(), line.sourceRoots.end()});
  if (!line.noSource) options.sources = &sources;
  const std::string page = report::makeReport(module, options);
  if (!writeFiles({{line.output, page}}, error)) return fail(Status::Usage, error);
  return 0;
}

}  // namespace ptxopt::tool
