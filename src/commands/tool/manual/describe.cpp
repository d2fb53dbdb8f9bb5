// The description of an app is split into lines and read by the conventions of the header. What checks print into a
// type's name gives ranges and words.
#include "tool/manual/describe.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>

#include "dump/dump.h"
#include "ptxopt/ptxopt.h"
#include "target/occupancy.h"
#include "tool/commands/subcommands.h"
#include "tool/manual/help.h"
#include "tool/options/command_line.h"
#include "tool/options/parse_arguments.h"

namespace ptxopt::tool {
namespace {

using Kind = ValueDescription::Kind;

constexpr int64_t kMostNumbers = 8;  // a range with more is not listed

std::vector<std::string> passNames() {
  std::vector<std::string> names;
  for (const PassDescription& pass : describePasses()) names.emplace_back(pass.name);
  return names;
}

std::vector<std::string> architectureNames() {
  std::vector<std::string> names;
  for (const target::Limits& a : target::targets()) names.push_back(fmt::format("sm_{}", a.number));
  return names;
}

// What a metavar stands for. `text` is its name without the mark of lists.
void valueOf(std::string_view text, ValueDescription& value) {
  const auto words = [&](std::vector<std::string> all) {
    value.kind = Kind::Words;
    value.words = std::move(all);
  };
  value.kind = Kind::Any;
  if (text == "PASS") return words(passNames());
  if (text == "ANALYSIS") return words(CLI::detail::split(dump::dumpNames(), ','));
  if (text == "sm_XX") return words(architectureNames());
  if (text == "INPUT" || text == "FILE" || text.starts_with("FILE.")) {
    value.kind = Kind::File;
    value.suffix = text == "INPUT" ? ".ptx" : text.substr(4);
  }
  if (text == "FOLDER") value.kind = Kind::Folder;
  if (text == "PROGRAM") value.kind = Kind::Program;
  if (text.find('|') != std::string_view::npos) words(CLI::detail::split(std::string(text), '|'));
}

// "INT in [0 - 2]"
bool readRange(std::string_view text, int64_t& least, int64_t& most) {
  const std::size_t open = text.find(" in ["), dash = text.find(" - ", open), close = text.find(']', open);
  if (open == std::string_view::npos || dash == std::string_view::npos || close == std::string_view::npos)
    return false;
  const auto read = [&](std::size_t begin, std::size_t end, int64_t& number) {
    return std::from_chars(text.data() + begin, text.data() + end, number).ptr == text.data() + end;
  };
  return read(open + 5, dash, least) && read(dash + 3, close, most);
}

ValueDescription describeValue(const CLI::Option& option, std::string& range) {
  ValueDescription value;
  // The type's name, in which may be colons too, and after one more what the checks say of themselves.
  const std::string type = option.get_type_name();
  std::size_t colon = type.size();
  for (const char* check : {":{", ":INT in [", ":UINT in [", ":FLOAT in [", ":POSITIVE", ":NONNEGATIVE"})
    colon = std::min(colon, type.find(check));
  value.metavar = type.substr(0, colon);
  const std::string checks = colon == type.size() ? "" : type.substr(colon + 1);
  value.isOptional = option.get_items_expected_max() == 0 && !option.get_fnames().empty();
  if (option.get_items_expected_max() == 0 && !value.isOptional) return {};
  if (value.isOptional && value.metavar.empty()) value.metavar = "VALUE";
  // A positional is called by its name unless its values have one.
  if (option.get_positional() && !value.metavar.starts_with("FILE")) value.metavar = option.get_name(true, false);

  std::string_view name = value.metavar;
  value.isList = option.get_delimiter() == ',';
  for (const std::string_view list : {",...", "[,...]"}) {
    if (!name.ends_with(list)) continue;
    name.remove_suffix(list.size());
    value.isList = true;
    break;
  }
  valueOf(name, value);
  int64_t least = 0, most = 0;
  if (checks.starts_with('{') && checks.ends_with('}')) {
    value.kind = Kind::Words;
    value.words = CLI::detail::split(checks.substr(1, checks.size() - 2), ',');
  } else if (readRange(checks, least, most)) {
    range = fmt::format("{} to {}", least, most);
    if (most - least < kMostNumbers) {
      value.kind = Kind::Words;
      for (int64_t n = least; n <= most; ++n) value.words.push_back(std::to_string(n));
    }
  }
  return value;
}

OptionDescription describeOption(const CLI::Option& option) {
  OptionDescription d;
  if (option.get_positional()) {
    d.names = {option.get_name(true, false)};
  } else {
    for (const std::string& name : option.get_snames()) d.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) d.names.push_back("--" + name);
  }
  d.value = describeValue(option, d.range);
  d.summary = option.get_description();
  d.group = option.get_group();
  d.isRequired = option.get_required();
  d.isRepeatable = !d.value.isList && option.get_items_expected_max() >= CLI::detail::expected_max_vector_size;
  return d;
}

// Lines to blocks: see the conventions above.
std::vector<TextBlock> blocksOf(const std::vector<std::string>& lines) {
  std::vector<TextBlock> blocks;
  bool isNew = true;
  for (const std::string& line : lines) {
    if (line.empty()) {
      isNew = true;
    } else if (line.starts_with(' ')) {
      if (blocks.empty()) blocks.emplace_back();
      blocks.back().lines.push_back(line);
      isNew = false;
    } else if (line.ends_with(':')) {
      blocks.push_back({line.substr(0, line.size() - 1), {}, {}});
      isNew = false;
    } else {
      if (isNew || blocks.empty() || !blocks.back().heading.empty() || !blocks.back().lines.empty())
        blocks.emplace_back();
      std::string& paragraph = blocks.back().paragraph;
      paragraph += (paragraph.empty() ? "" : " ") + line;
      isNew = false;
    }
  }
  return blocks;
}

std::vector<std::string> linesOfHelp(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// "Exit codes: 0 ok, 1 a, b or c, 2 d."
std::vector<ExitCode> readExitCodes(std::string_view text) {
  std::vector<ExitCode> codes;
  text.remove_prefix(text.find(':') + 1);
  const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t begin = 0;
  for (std::size_t at = 1; at <= text.size(); ++at) {
    // A code begins after ", "; its meaning may have commas too.
    const bool isEnd =
        at == text.size() || (text.substr(at).starts_with(", ") && at + 2 < text.size() && isDigit(text[at + 2]));
    if (!isEnd) continue;
    std::string_view part = text.substr(begin, at - begin);
    part.remove_prefix(std::min(part.find_first_not_of(", "), part.size()));
    if (part.ends_with('.')) part.remove_suffix(1);
    const std::size_t blank = part.find(' ');
    if (blank != std::string_view::npos)
      codes.push_back({std::string(part.substr(0, blank)), std::string(part.substr(blank + 1))});
    begin = at;
  }
  return codes;
}

void readDescription(const CLI::App& app, CommandDescription& d) {
  std::vector<std::string> rest;
  bool inSynopsis = false, inExitCodes = false;
  const std::string program = app.get_name().substr(0, app.get_name().find(' '));
  for (const std::string& line : linesOfHelp(app.get_description())) {
    const std::string trimmed = CLI::detail::trim_copy(line);
    if (inSynopsis || (rest.empty() && line.starts_with(program))) {
      if (inSynopsis)
        d.synopsis.back() += " " + trimmed;
      else
        d.synopsis.push_back(trimmed);
      inSynopsis = trimmed.ends_with('\\');
      if (inSynopsis) d.synopsis.back() = CLI::detail::rtrim(d.synopsis.back().erase(d.synopsis.back().size() - 1));
    } else if (line.starts_with("Exit codes:") || (inExitCodes && !line.empty())) {
      d.exitCodeText += (inExitCodes ? " " : "") + line;
      inExitCodes = true;
    } else {
      inExitCodes = false;
      rest.push_back(line);
    }
  }
  d.description = blocksOf(rest);
  if (!d.exitCodeText.empty()) d.exitCodes = readExitCodes(d.exitCodeText);
}

}  // namespace

CommandDescription describe(const CLI::App& app) {
  CommandDescription d;
  d.name = app.get_name();
  readDescription(app, d);
  d.footer = blocksOf(linesOfHelp(app.get_footer()));
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty() || option->get_group() == kTestGroup) continue;  // hidden
    if (option->get_positional()) {
      d.positionals.push_back(describeOption(*option));
      continue;
    }
    d.options.push_back(describeOption(*option));
    if (std::ranges::find(d.groups, d.options.back().group) == d.groups.end())
      d.groups.push_back(d.options.back().group);
  }
  if (d.synopsis.empty()) {
    std::string line = d.name + " [OPTIONS]";
    for (const OptionDescription& p : d.positionals) {
      const std::string name = p.names[0] + (p.isRepeatable ? "..." : "");
      line += p.isRequired ? " " + name : " [" + name + "]";
    }
    d.synopsis.push_back(line);
  }
  return d;
}

std::vector<CommandDescription> describeCommands() {
  std::vector<CommandDescription> all(1);
  char help[] = "--help";
  {
    char name[] = "ptxopt";
    char* argv[] = {name, help, nullptr};
    const DescribeInstead described(all.back());
    CommandLine line;
    int exitCode = 0;
    readCommandLine(2, argv, line, exitCode);
  }
  all.back().summary = "optimize PTX for ptxas";
  for (const Subcommand& command : subcommands()) {
    CommandDescription& d = all.emplace_back();
    std::string name(command.name);
    char* argv[] = {name.data(), help, nullptr};
    const DescribeInstead described(d);
    command.run(2, argv);
    d.summary = command.summary;
  }
  return all;
}

}  // namespace ptxopt::tool
