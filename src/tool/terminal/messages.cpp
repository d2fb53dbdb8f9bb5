#include "tool/terminal/messages.h"

#include <fmt/format.h>

#include "tool/terminal/terminal.h"

namespace ptxopt::tool {

void print(std::FILE* file, std::string_view text) { std::fwrite(text.data(), 1, text.size(), file); }

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
