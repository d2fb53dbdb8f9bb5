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
#include "target/target.h"
#include "text/rewrite.h"
#include "tool/commands/subcommands.h"
#include "tool/files.h"
#include "tool/options/parse_arguments.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {
namespace {

struct CheckLine {
  std::vector<std::string> inputs, skip;
  std::string format = "text", output = "-", failOn = "error", externals;
  std::string setVersion, setTarget;
  bool list = false;

  bool rewrites() const { return !setVersion.empty() || !setTarget.empty(); }
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
  if (files.empty()) error = "no *.ptx in the folders";
  if (std::ranges::count(files, "-") > 1) error = "standard input is given twice";
  return error.empty();
}

std::string unknownCheck(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (std::ranges::find(check::checkTable(), name, &check::CheckInfo::name) == check::checkTable().end())
      return fmt::format("there is no check '{}'; --list-checks names them", name);
  return {};
}

// Why a header cannot be asked for, by its form.
std::string whyNoHeader(const CheckLine& line, std::size_t inputs) {
  const std::string& v = line.setVersion;
  const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  if (!v.empty() && (v.size() != 3 || v[1] != '.' || !isDigit(v[0]) || !isDigit(v[2])))
    return fmt::format("--set-version: '{}' is not a version, as in 8.0", v);
  if (const std::string why = line.setTarget.empty() ? "" : target::whyNoTarget(line.setTarget); !why.empty())
    return "--set-target: " + why;
  if (!line.rewrites()) return {};
  if (inputs != 1) return "--set-version and --set-target are for one file";
  if (line.format != "text") return "--set-version and --set-target write PTX, so that there is no --format";
  return {};
}

// The text with the header that is asked for, into the output; where it is not right for the text, what needs more.
int writeWithHeader(const CheckLine& line, const check::CheckedFile& file) {
  const std::string text = text::withHeader(file.text, line.setVersion, line.setTarget);
  const check::CheckedFile with{file.name, text, check::checkText(text, file.name, line.externals == "optix")};
  if (with.count(check::Severity::Error) != 0) {
    printError(check::writeText(with));
    return static_cast<int>(with.checked.hasSyntaxErrors ? Status::InvalidInput : Status::CheckFailed);
  }
  std::string error;
  if (!writeFiles({{line.output, text}}, error)) return fail(Status::Usage, error);
  return 0;
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
      "Reports everything that is wrong with PTX files, without ptxas: what ptxas would refuse is an error, what "
      "is hardly intended is a warning. It also reports the lowest .version and .target that each file needs.\n"
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
  app.add_option("--set-version", line.setVersion,
                 "write the text to -o with this .version, unless something in it needs a newer one")
      ->type_name("X.Y");
  app.add_option("--set-target", line.setTarget,
                 "write the text to -o with this .target, unless something in it needs another one")
      ->type_name("sm_XX");
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
  if (error = whyNoHeader(line, names.size()); !error.empty()) return fail(Status::Usage, error);
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
  if (line.rewrites()) return writeWithHeader(line, files.front());
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
