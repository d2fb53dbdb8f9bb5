// Summaries are filled from column 28 on, in a width between 50 and 100 columns. An option shows the words that it
// takes where they fit 16 columns, and otherwise its metavar.
#include "tool/manual/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "tool/terminal/terminal.h"

namespace ptxopt::tool {
namespace {

constexpr std::size_t kUsualWidth = 80, kMostWidth = 100;  // longer lines are hard to read
constexpr std::size_t kColumn = 28;                        // where summaries begin

std::string rowOf(const OptionDescription& option, std::size_t width) {
  std::string label = "  " + optionLabel(option);
  const bool isMarked = option.isRequired && option.names[0].starts_with('-');
  const std::string summary = option.summary + (isMarked ? " (required)" : "");
  if (summary.empty()) return label + "\n";
  const std::size_t columns = displayWidth(label);
  label += columns + 2 <= kColumn ? std::string(kColumn - columns, ' ') : "\n" + std::string(kColumn, ' ');
  return label + filled(summary, width, kColumn, kColumn) + "\n";
}

}  // namespace

std::string filled(std::string_view text, std::size_t width, std::size_t indent, std::size_t at) {
  std::string out;
  bool isFirst = true;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    text.remove_prefix(end);
    if (word.empty()) break;
    const std::size_t columns = displayWidth(word);
    if (!isFirst && at + 1 + columns > width) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (!isFirst) {
      out += ' ';
      ++at;
    }
    out += word;
    at += columns;
    isFirst = false;
  }
  return out;
}

std::string valueLabel(const ValueDescription& value) {
  constexpr std::size_t kMost = 16;
  // Words that fit say more than a name. Numbers, and words of a table, go by their name.
  const bool isNumbers =
      !value.words.empty() && value.words[0].find_first_not_of("0123456789") == std::string::npos;
  const std::string words = fmt::format("{}", fmt::join(value.words, "|"));
  return !value.isList && !words.empty() && !isNumbers && words.size() <= kMost ? words : value.metavar;
}

std::string optionLabel(const OptionDescription& option) {
  std::string label = fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.names[0].starts_with('-')) return label + (option.isRepeatable ? "..." : "");
  if (option.names[0].starts_with("--")) label.insert(0, "    ");  // under those that have a short form
  if (option.isFlag()) return label;
  return label +
         (option.value.isOptional ? "[=" + valueLabel(option.value) + "]" : " " + valueLabel(option.value)) +
         (option.isRepeatable ? " ..." : "");
}

std::string helpText(const CommandDescription& command, bool all) {
  const std::size_t width = std::clamp(terminalWidth(stdout, kUsualWidth), std::size_t{50}, kMostWidth);
  const bool colours = hasColours(stdout);
  const auto heading = [&](std::string_view text) { return styled(text, Style::Strong, colours); };
  const auto blocks = [&](const std::vector<TextBlock>& texts) {
    std::string out;
    for (const TextBlock& block : texts) {
      out += "\n";
      if (!block.heading.empty()) out += heading(block.heading + ":") + "\n";
      if (!block.paragraph.empty()) out += filled(block.paragraph, width, 0, 0) + "\n";
      for (const std::string& line : block.lines) out += line + "\n";
    }
    return out;
  };

  std::string out;
  for (const std::string& line : command.synopsis) {
    const std::string_view before = out.empty() ? "Usage: " : "       ";
    out += out.empty() ? heading("Usage:") + " " : std::string(before);
    out += filled(line, width, before.size() + 4, before.size()) + "\n";
  }
  out += blocks(command.description);
  if (!command.positionals.empty()) out += "\n" + heading("Arguments:") + "\n";
  for (const OptionDescription& option : command.positionals) out += rowOf(option, width);
  for (const std::string& group : command.groups) {
    if (group == kKnobGroup && !all) continue;
    out += "\n" + heading(group + ":") + "\n";
    for (const OptionDescription& option : command.options)
      if (option.group == group) out += rowOf(option, width);
  }
  out += blocks(command.footer);
  if (!command.exitCodeText.empty()) out += "\n" + filled(command.exitCodeText, width, 0, 0) + "\n";
  return out;
}

}  // namespace ptxopt::tool
