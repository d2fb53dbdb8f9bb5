// All text is escaped by roff() and guarded against lines that begin with a dot. All pages are made before the first is
// written.
#include "tool/manual/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "tool/files.h"
#include "tool/manual/help.h"
#include "tool/options/environment.h"
#include "tool/revision.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {
namespace {

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

// A line that begins with a dot is a request, unless something without width is before it.
std::string guarded(std::string_view roffText) {
  return (roffText.starts_with('.') ? "\\&" : "") + std::string(roffText) + "\n";
}

// One kept line of text.
std::string keptLine(std::string_view text) { return guarded(roff(text)); }

// A paragraph, in lines of a usual length.
std::string line(std::string_view text) {
  constexpr std::size_t kWidth = 78;
  std::string out;
  const std::string lines = filled(roff(text), kWidth, 0, 0);
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    out += guarded(std::string_view(lines).substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string capitals(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

// "ptxopt run" is the page ptxopt-run.
std::string pageName(const CommandDescription& command) {
  std::string name = command.name;
  std::ranges::replace(name, ' ', '-');
  return name;
}

// Options and the command's name bold, names in capitals italic.
std::string synopsisLine(std::string_view text, std::string_view name) {
  std::string out;
  std::size_t at = 0;
  if (text.starts_with(name)) {
    out = bold(name);
    at = name.size();
  }
  const auto isWord = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  };
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && isWord(text[end])) ++end;
    if (end == at) {
      out += roff(text.substr(at++, 1));
      continue;
    }
    const std::string_view word = text.substr(at, end - at);
    const bool isName =
        std::ranges::none_of(word, [](char c) { return std::islower(static_cast<unsigned char>(c)); });
    out += word.starts_with('-') ? bold(word) : isName ? italic(word) : roff(word);
    at = end;
  }
  return out;
}

std::string item(const std::string& head, std::string_view text) { return ".TP\n" + head + "\n" + line(text); }

std::string optionItem(const OptionDescription& option) {
  std::string head;
  for (const std::string& name : option.names)
    head += (head.empty() ? "" : ", ") + (name.starts_with('-') ? bold(name) : italic(name));
  if (option.names[0].starts_with('-') && !option.isFlag()) {
    const std::string value = italic(valueLabel(option.value));
    head += option.value.isOptional ? "[=" + value + "]" : " " + value;
  }
  if (option.isRepeatable) head += " ...";
  std::string text = option.summary;
  if (!option.range.empty()) text += " (" + option.range + ")";
  if (option.isRequired && option.names[0].starts_with('-')) text += " (required)";
  return item(head, text);
}

std::string blocks(const std::vector<TextBlock>& all) {
  std::string out;
  for (const TextBlock& block : all) {
    if (!block.heading.empty()) out += ".PP\n" + line(block.heading + ":");
    if (!block.paragraph.empty()) out += ".PP\n" + line(block.paragraph);
    if (block.lines.empty()) continue;
    out += ".PP\n.nf\n.RS 2\n";
    const std::size_t indent = std::min(block.lines[0].find_first_not_of(' '), block.lines[0].size());
    for (const std::string& kept : block.lines)
      out += keptLine(std::string_view(kept).substr(std::min(indent, kept.find_first_not_of(' '))));
    out += ".RE\n.fi\n";
  }
  return out;
}

std::string nameLine(const std::string& name, const std::string& summary) {
  return filled(roff(name) + " \\- " + roff(summary), 78, 0, 0) + "\n";
}

// A section, unless there is nothing in it. The first paragraph needs no .PP.
std::string section(std::string_view title, std::string text) {
  if (text.empty()) return {};
  if (text.starts_with(".PP\n")) text.erase(0, 4);
  return fmt::format(".SH {}\n{}",
                     title.find(' ') == std::string_view::npos ? std::string(title) : fmt::format("\"{}\"", title),
                     text);
}

std::string optionsOf(const CommandDescription& command) {
  std::string out;
  for (const std::string& group : command.groups) {
    if (group != "Options") out += ".SS \"" + roff(group) + "\"\n";
    for (const OptionDescription& option : command.options)
      if (option.group == group) out += optionItem(option);
  }
  return out;
}

std::string page(const CommandDescription& command, const std::vector<CommandDescription>& all) {
  const bool isMain = &command == all.data();
  const std::string name = pageName(command);
  std::string out = ".\\\" Made of the program's own tables by ptxopt --write-manual.\n";
  out += fmt::format(".TH {} 1 \"{}\" \"ptxopt {}\" \"User Commands\"\n", roff(capitals(name)), revisionDate(),
                     version());
  out += section("NAME", nameLine(name, command.summary));
  // Ragged and without hyphens: options are not to be cut.
  out += ".nh\n.ad l\n";
  std::string synopsis;
  for (const std::string& l : command.synopsis)
    synopsis += (synopsis.empty() ? "" : ".br\n") + synopsisLine(l, command.name) + "\n";
  out += section("SYNOPSIS", synopsis);
  std::vector<TextBlock> notes, examples;
  for (const TextBlock& block : command.footer) {
    const bool isTable = block.heading.starts_with("Commands") || block.paragraph.starts_with("Environment");
    if (block.heading.starts_with("Example"))
      examples.push_back({{}, block.paragraph, block.lines});
    else if (!isMain || !isTable)  // the page has sections for these
      notes.push_back(block);
  }
  out += section("DESCRIPTION", command.description.empty() ? line(command.summary) : blocks(command.description));
  std::string text;
  if (isMain) {
    for (std::size_t i = 1; i < all.size(); ++i) text += item(bold(all[i].name), all[i].summary);
    text += ".PP\nEach has a page of its own, as \\fBptxopt\\-run\\fR(1).\n";
    out += section("COMMANDS", text);
  }
  text.clear();
  for (const OptionDescription& option : command.positionals) text += optionItem(option);
  out += section("ARGUMENTS", text);
  out += section("OPTIONS", optionsOf(command));
  if (isMain) {
    text = "The default pipeline runs those of its level and below.\n";
    for (const PassDescription& pass : describePasses())
      text += item(bold(pass.name), fmt::format("{} ({})", pass.summary,
                                                pass.level <= 2 ? fmt::format("-O{}", pass.level) : "on request"));
    out += section("PASSES", text);
  }
  out += section("NOTES", blocks(notes));
  text.clear();
  for (const ExitCode& code : command.exitCodes) text += item(bold(code.code), code.meaning);
  out += section("EXIT STATUS", text);
  if (isMain) {
    text.clear();
    for (const Variable& variable : environmentTable()) text += item(bold(variable.name), variable.summary);
    out += section("ENVIRONMENT", text);
  }
  out += section("EXAMPLES", blocks(examples));
  text.clear();
  for (const CommandDescription& other : all)
    if (&other != &command && (isMain || &other == all.data()))
      text += (text.empty() ? "" : ",\n") + bold(pageName(other)) + "(1)";
  return out + section("SEE ALSO", text + "\n");
}

}  // namespace

std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '\'': out += "\\(aq"; break;
      case '`': out += "\\(ga"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      case '"': out += "\\(dq"; break;
      default: out += c;
    }
  return out;
}

std::vector<ManualPage> manualPages(const std::vector<CommandDescription>& commands) {
  std::vector<ManualPage> pages;
  for (const CommandDescription& command : commands)
    pages.push_back({pageName(command) + ".1", page(command, commands)});
  return pages;
}

int writeManual(const std::string& folder) {
  const std::vector<CommandDescription> commands = describeCommands();
  const std::vector<ManualPage> pages = manualPages(commands);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Status::Usage, fmt::format("cannot make '{}': {}", folder, error.message()));
  std::vector<OutputFile> files;
  for (const ManualPage& page : pages)
    files.push_back({(std::filesystem::path(folder) / page.fileName).string(), page.text});
  std::string reason;
  return writeFiles(files, reason) ? 0 : fail(Status::Usage, reason);
}

}  // namespace ptxopt::tool
