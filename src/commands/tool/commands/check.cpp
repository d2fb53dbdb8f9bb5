// ptxopt check: what is wrong with PTX files, without ptxas.
#include "check/check.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <filesystem>

#include "check/output.h"
#include "ptxopt/ptxopt.h"
#include "support/files_below.h"
#include "tool/commands/subcommands.h"
#include "tool/files.h"
#include "tool/options/parse_arguments.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {
namespace {

struct CheckLine {
  std::vector<std::string> inputs, skip;
  std::string format = "text", output = "-", failOn = "error", externals;
  bool list = false;
};

std::string checkList() {
  std::string list;
  for (const check::CheckInfo& c : check::checkTable())
    list += fmt::format("{:<20} {:<8} {}\n", c.name, c.severity == check::Severity::Error ? "error" : "warning",
                        c.summary);
  return list;
}

// The files of the command line; of folders all *.ptx below them.
bool collect(const std::vector<std::string>& inputs, std::vector<std::string>& files, std::string& error) {
  for (const std::string& input : inputs) {
    if (input == "-" || !std::filesystem::is_directory(input)) {
      files.push_back(input);
      continue;
    }
    FilesBelow below = filesBelow(input, [](const std::filesystem::path& p) { return p.extension() == ".ptx"; });
    if (!below.problems.empty()) {
      error = below.problems.front();
      return false;
    }
    for (const auto& path : below.files) files.push_back(path.string());
  }
  if (std::ranges::count(files, "-") > 1) error = "standard input is given twice";
  return error.empty();
}

std::string unknownCheck(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (std::ranges::find(check::checkTable(), name, &check::CheckInfo::name) == check::checkTable().end())
      return fmt::format("there is no check '{}'; --list-checks names them", name);
  return {};
}

int exitCodeOf(const std::vector<check::CheckedFile>& files, const std::string& failOn) {
  std::size_t errors = 0, warnings = 0;
  for (const check::CheckedFile& file : files) {
    if (file.checked.hasSyntaxErrors) return static_cast<int>(Status::InvalidInput);
    errors += file.count(check::Severity::Error);
    warnings += file.count(check::Severity::Warning);
  }
  const bool isFailed = errors != 0 || (failOn == "warning" && warnings != 0);
  return isFailed ? static_cast<int>(Status::CheckFailed) : 0;
}

}  // namespace

int checkCommand(int argc, char** argv) {
  CLI::App app(
      "ptxopt check FILE|FOLDER... [OPTIONS]\n"
      "Says what is wrong with PTX files, all of it, without ptxas: what ptxas would refuse is an error, what is "
      "hardly "
      "meant a warning. It also says the least .version and .target that each file needs.\n"
      "Exit codes: 0 no errors, 1 errors, 2 usage or I/O, 3 a file is not PTX, 4 internal error.",
      "ptxopt check");
  CheckLine line;
  app.add_option("INPUT", line.inputs, "PTX files, and folders for all *.ptx below them; - is standard input");
  app.add_option("--format", line.format, "text, json or sarif [text]")
      ->check(CLI::IsMember({"text", "json", "sarif"}))
      ->type_name("FORMAT");
  app.add_option("-o,--output", line.output, "where that goes [standard output]")->type_name("FILE");
  app.add_option("--fail-on", line.failOn, "what the exit code 1 is for: errors, or warnings too [error]")
      ->check(CLI::IsMember({"error", "warning"}))
      ->type_name("error|warning");
  app.add_option("--skip", line.skip, "checks to leave out")->delimiter(',')->type_name("CHECK,...");
  app.add_option("--externals", line.externals,
                 "functions that may be called undeclared: of OptiX, _optix_* and _rt_*")
      ->check(CLI::IsMember({"optix"}))
      ->type_name("optix");
  app.add_flag("--list-checks", line.list, "what it looks for");
  int exitCode = 0;
  if (!parseArguments(app, argc, argv, exitCode)) return exitCode;
  if (line.list) {
    printResult(checkList());
    return 0;
  }

  std::string error = unknownCheck(line.skip);
  if (!error.empty()) return fail(Status::Usage, error);
  if (line.inputs.empty()) return fail(Status::Usage, "no input: a PTX file, a folder, or -");
  std::vector<std::string> names;
  if (!collect(line.inputs, names, error)) return fail(Status::Usage, error);
  std::vector<NamedFile> inputs;
  for (const std::string& name : names) inputs.push_back({"input", name});
  if (error = whyOneFile(inputs, {{"output", line.output}}); !error.empty()) return fail(Status::Usage, error);

  std::deque<FileText> texts;
  std::vector<check::CheckedFile> files;
  for (const std::string& name : names) {
    if (!readFile(name, texts.emplace_back(), error)) return fail(Status::Usage, error);
    const std::string shown = name == "-" ? "<stdin>" : name;
    files.push_back({shown, texts.back(), check::checkText(texts.back(), shown, line.externals == "optix")});
    std::erase_if(files.back().checked.findings, [&](const check::Finding& f) {
      return std::ranges::find(line.skip, check::info(f.check).name) != line.skip.end();
    });
  }
  std::string out;
  if (line.format == "json")
    out = check::writeJson(files);
  else if (line.format == "sarif")
    out = check::writeSarif(files, version());
  else
    for (const check::CheckedFile& file : files) out += check::writeText(file);
  if (!writeFiles({{line.output, out}}, error)) return fail(Status::Usage, error);
  return exitCodeOf(files, line.failOn);
}

}  // namespace ptxopt::tool
