// The width of a text is what fmt pads it by, since fmt counts columns as terminals do. A text is shortened by taking
// characters from both ends in turn until the next one would not fit.
#include "tool/terminal/terminal.h"

#include <fmt/color.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace ptxopt::tool {
namespace {

ColourChoice colourChoice = ColourChoice::Auto;

bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

void chooseColours(ColourChoice choice) { colourChoice = choice; }

bool isTerminal(std::FILE* stream) { return ::isatty(::fileno(stream)) != 0; }

void drawLine(std::string_view line) {
  std::fputs(fmt::format("\r{}\x1b[K", line).c_str(), stderr);
  std::fflush(stderr);
}

bool hasColours(std::FILE* stream) {
  if (colourChoice != ColourChoice::Auto) return colourChoice == ColourChoice::Always;
  const char* const refused = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool isDumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return isTerminal(stream) && !isDumb && (refused == nullptr || *refused == '\0');
}

std::string styled(std::string_view text, Style style, bool colours) {
  const auto paint = [&](const fmt::text_style& look) { return fmt::format(look, "{}", text); };
  if (colours && !text.empty()) switch (style) {
      case Style::Plain: break;
      case Style::Good: return paint(fmt::fg(fmt::terminal_color::green));
      case Style::Bad: return paint(fmt::emphasis::bold | fmt::fg(fmt::terminal_color::red));
      case Style::Doubtful: return paint(fmt::fg(fmt::terminal_color::yellow));
      case Style::Strong: return paint(fmt::emphasis::bold);
      case Style::Faint: return paint(fmt::emphasis::faint);
    }
  return std::string(text);
}

std::size_t terminalWidth(std::FILE* stream, std::size_t otherwise) {
  winsize size{};
  if (!isTerminal(stream) || ::ioctl(::fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return otherwise;
  return size.ws_col;
}

std::size_t displayWidth(std::string_view text) {
  // fmt pads to columns: to as many as there are bytes, it adds what the text falls short of that.
  return 2 * text.size() - fmt::formatted_size("{:<{}}", text, text.size());
}

std::string shortened(std::string_view text, std::size_t width) {
  if (displayWidth(text) <= width) return std::string(text);
  // What is left and right of the dots, a character at a time from both ends.
  std::size_t begin = 0, end = text.size();
  for (bool left = true;; left = !left) {
    std::size_t b = begin, e = end;
    if (left) do
        ++b;
      while (b < text.size() && isContinuation(text[b]));
    else
      do --e;
      while (e > 0 && isContinuation(text[e]));
    if (displayWidth(text.substr(0, b)) + 3 + displayWidth(text.substr(e)) > width) break;
    begin = b;
    end = e;
  }
  return fmt::format("{}...{}", text.substr(0, begin), text.substr(end));
}

}  // namespace ptxopt::tool
