// ptxopt profile show|merge: files of what launches were seen to have (docs/profile.md).
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tool/commands/profile_file.h"
#include "tool/commands/subcommands.h"
#include "tool/options/parse_arguments.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {
namespace {

struct ProfileCommandLine {
  std::string action, output;
  std::vector<std::string> files;
  bool isJson = false;
};

bool readProfileLine(int argc, char** argv, ProfileCommandLine& line, int& exitCode) {
  CLI::App app(
      "ptxopt profile show FILE [--json]\n"
      "ptxopt profile merge FILE... -o FILE\n"
      "Shows what a profile says about kernels, or merges the profiles of several runs. ptxopt emulate, run and "
      "record write\n"
      "them, and --profile-use reads them.\n"
      "\n"
      "Exit codes: 0 ok, 2 usage, or a file that cannot be read or written, or is not a profile, 4 internal error.",
      "ptxopt profile");
  app.footer(
      "Examples:\n"
      "  ptxopt emulate --profile-facts app.profile ./app\n"
      "  ptxopt profile show app.profile\n"
      "  ptxopt profile merge small.profile large.profile -o app.profile");
  app.add_option("ACTION", line.action, "show or merge")->required()->check(CLI::IsMember({"show", "merge"}));
  app.add_option("FILE", line.files, "profiles; - is standard input")->required();
  app.add_option("-o,--output", line.output,
                 "merge: where the sum goes, which may be one of the profiles; - is standard output")
      ->type_name("FILE");
  app.add_flag("--json", line.isJson, "show: as JSON, in the order of the table");
  const auto check = [&] {
    const bool shows = line.action == "show";
    if (shows && line.files.size() != 1) throw CLI::ValidationError("show takes one profile");
    if (shows == !line.output.empty()) throw CLI::ValidationError(shows ? "-o is for merge" : "merge needs -o");
    if (line.isJson && !shows) throw CLI::ValidationError("--json is for show");
    if (std::ranges::count(line.files, "-") > 1) throw CLI::ValidationError("standard input is given twice");
  };
  return parseArguments(app, std::vector<std::string>(argv + 1, argv + argc), exitCode, check);
}

std::string numberText(const NumberFact& n) {
  if (const auto exact = n.exact()) return std::to_string(*exact);
  if (!n.isSaid()) return "any";
  std::string text;
  if (n.least != INT64_MIN && n.most != INT64_MAX)
    text = fmt::format("{} to {}", n.least, n.most);
  else if (n.least != INT64_MIN)
    text = fmt::format("{} or more", n.least);
  else if (n.most != INT64_MAX)
    text = fmt::format("{} or less", n.most);
  if (n.multiple > 1) text += fmt::format("{}multiple of {}", text.empty() ? "" : ", ", n.multiple);
  return text;
}

std::string partText(const ParameterPart& p, const profile::SeenKernel& kernel) {
  std::string name = std::to_string(p.parameter);
  if (p.bytes != kernel.parameterBytes[p.parameter]) name += fmt::format("+{}", p.offset);
  return p.isAddress ? fmt::format("{}: align {}", name, p.number.multiple)
                     : fmt::format("{}: {}", name, numberText(p.number));
}

std::string classText(const LaunchClass& c, const profile::SeenKernel& kernel) {
  std::vector<std::string> parts, grid, written, pairs;
  for (const ParameterPart& p : c.parts) parts.push_back(partText(p, kernel));
  for (const NumberFact& n : c.grid) grid.push_back(numberText(n));
  for (const uint32_t p : c.written) written.push_back(std::to_string(p));
  for (const auto& [a, b] : c.overlapping) pairs.push_back(fmt::format("{} and {}", a, b));
  const double share = kernel.time > 0 ? 100 * c.time / kernel.time : 0;
  std::string text = fmt::format("  {:>5.1f}% {:>9}  block {} x {} x {}, grid {}\n", share, c.launches, c.block[0],
                                 c.block[1], c.block[2], fmt::join(grid, " x "));
  const auto add = [&](const char* what, const std::vector<std::string>& list) {
    if (!list.empty()) text += fmt::format("{:20}{}: {}\n", "", what, fmt::join(list, "; "));
  };
  add("parameters", parts);
  if (!c.isMemoryKnown) return text + fmt::format("{:20}memory was not watched\n", "");
  add("written", written);
  add("overlapping", pairs);
  return text;
}

std::string loopText(const profile::SeenLoop& l) {
  std::string text = fmt::format("  loop {}{}: entered {} time{}", l.label,
                                 l.place.empty() ? "" : " (" + l.place + ")", l.entries, l.entries == 1 ? "" : "s");
  if (l.entries != 0)
    text +=
        fmt::format(", {:.1f} iterations each", static_cast<double>(l.iterations) / static_cast<double>(l.entries));
  return text + '\n';
}

std::string table(const profile::File& file) {
  const double all = file.time();
  std::string text = fmt::format("{} kernel{}, {} {}\n", file.kernels.size(), file.kernels.size() == 1 ? "" : "s",
                                 all, profile::spelling(file.unit));
  for (const profile::SeenKernel& k : file.kernels) {
    text += fmt::format("\n{:>5.1f}%   {:>9}  {}\n", all > 0 ? 100 * k.time / all : 0, k.launches,
                        profile::matchName(k.name));
    for (const profile::SeenLoop& l : k.loops) text += loopText(l);
    for (const LaunchClass& c : k.classes) text += classText(c, k);
    uint64_t launches = 0;
    for (const LaunchClass& c : k.classes) launches += c.launches;
    if (launches < k.launches)
      text += fmt::format("{:18}{} launches of other classes\n", "", k.launches - launches);
  }
  return text;
}

}  // namespace

int profileCommand(int argc, char** argv) {
  ProfileCommandLine line;
  int exitCode = 0;
  if (!readProfileLine(argc, argv, line, exitCode)) return exitCode;
  profile::File all;
  std::string error;
  for (const std::string& path : line.files) {
    profile::File file;
    if (!readProfile(path, file, error)) return fail(Status::Usage, error);
    if (const std::string wrong = profile::merge(all, std::move(file)); !wrong.empty())
      return fail(Status::Usage, fmt::format("{}: {}", path, wrong));
  }
  if (line.action == "show") {
    printResult(line.isJson ? profile::write(all) : table(all));
    return 0;
  }
  return writeProfile(line.output, all, error) ? 0 : fail(Status::Usage, error);
}

}  // namespace ptxopt::tool
