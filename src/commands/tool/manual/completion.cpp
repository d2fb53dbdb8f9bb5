#include "tool/manual/completion.h"

#include "tool/terminal/terminal.h"

namespace ptxopt::tool {

std::string completion(std::string_view shell, const std::vector<CommandDescription>& commands) {
  return shell == "bash"  ? completionForBash(commands)
         : shell == "zsh" ? completionForZsh(commands)
                          : completionForFish(commands);
}

std::string_view subcommandOf(const CommandDescription& command) {
  const std::string_view name = command.name;
  const std::size_t blank = name.find(' ');
  return blank == std::string_view::npos ? std::string_view() : name.substr(blank + 1);
}

std::string shellQuoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

std::string briefly(std::string_view summary) {
  constexpr std::size_t kMost = 70;
  // The first part says what it is.
  std::string_view first = summary.substr(0, summary.find("; "));
  if (first.find(": ") != std::string_view::npos && first.find(": ") > kMost / 2)
    first = first.substr(0, first.find(": "));
  if (displayWidth(first) <= kMost) return std::string(first);
  std::string cut(first.substr(0, kMost - 3));
  cut.resize(std::min(cut.size(), cut.rfind(' ')));
  return cut + "...";
}

ValueDescription positionalsOf(const CommandDescription& command) {
  ValueDescription all;
  all.kind = ValueDescription::Kind::File;
  bool isFirst = true;
  for (const OptionDescription& p : command.positionals) {
    if (isFirst) all.suffix = p.value.suffix;
    if (p.value.suffix != all.suffix) all.suffix.clear();
    isFirst = false;
  }
  return all;
}

}  // namespace ptxopt::tool
