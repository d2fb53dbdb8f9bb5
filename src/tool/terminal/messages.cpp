#include "tool/terminal/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "tool/terminal/terminal.h"

namespace ptxopt::tool {

namespace {

// GitHub looks at lines that begin with `::` or `##[`, blanks not counted; GitLab and others have none that matter here.
std::string withoutCommands(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n') + 1);  // npos + 1 is 0: the rest
    const std::string_view whole = line.empty() ? text : line;
    const std::size_t at = std::min(whole.find_first_not_of(" \t\r"), whole.size());
    const std::string_view rest = whole.substr(at);
    out += whole.substr(0, at);
    const bool isCommand = rest.starts_with("::") || rest.starts_with("##[");
    out += isCommand ? fmt::format("\\x{:02x}{}", rest.front(), rest.substr(1)) : std::string(rest);
    text.remove_prefix(whole.size());
  }
  return out;
}

}  // namespace

void print(std::FILE* file, std::string_view text) {
  const std::string safe = file == stderr ? withoutCommands(text) : std::string();
  const std::string_view shown = file == stderr ? safe : text;
  std::fwrite(shown.data(), 1, shown.size(), file);
}

void printMessage(std::string_view text) {
  constexpr std::string_view kError = "error:";
  const std::size_t at = text.find(kError);
  if (at == std::string_view::npos) return print(stderr, text);
  print(stderr, fmt::format("{}{}{}", text.substr(0, at), styled(kError, Style::Bad, hasColours(stderr)),
                            text.substr(at + kError.size())));
}

int fail(Status status, std::string_view message) {
  printMessage(fmt::format("ptxopt: error: {}\n", message));
  return static_cast<int>(status);
}

}  // namespace ptxopt::tool
