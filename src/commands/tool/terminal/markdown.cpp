#include "tool/terminal/markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/printable.h"

namespace ptxopt::tool {
namespace {

// A fence that nothing in the text can be.
std::string fenceFor(std::string_view text, std::size_t least) {
  std::size_t longest = least - 1, now = 0;
  for (const char c : text) {
    now = c == '`' ? now + 1 : 0;
    longest = std::max(longest, now);
  }
  return std::string(longest + 1, '`');
}

}  // namespace

std::string markdownText(std::string_view text) {
  constexpr std::string_view kSpecial = "\\`*_{}[]<>#|~&$";
  std::string out;
  for (const char c : printable(text)) {
    if (kSpecial.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string markdownCode(std::string_view text, MarkdownPlace place) {
  const std::string shown = printable(text), fence = fenceFor(shown, 1);
  std::string body;
  for (const char c : shown) {
    // Cells are cut first, in spans of code, too.
    if (c == '|' && place == MarkdownPlace::Cell) body += '\\';
    body += c;
  }
  const bool needsBlanks = shown.starts_with('`') || shown.ends_with('`');
  return needsBlanks ? fence + " " + body + " " + fence : fence + body + fence;
}

std::string markdownBlock(const std::vector<std::string>& lines, std::size_t mostLines, std::size_t mostBytes) {
  std::string body;
  for (std::size_t i = 0; i < std::min(lines.size(), mostLines); ++i) {
    const bool isLong = lines[i].size() > mostBytes;
    body += printable(std::string_view(lines[i]).substr(0, mostBytes)) + (isLong ? "...\n" : "\n");
  }
  if (lines.size() > mostLines) body += fmt::format("and {} more\n", lines.size() - mostLines);
  const std::string fence = fenceFor(body, 3);
  return fmt::format("{}text\n{}{}\n", fence, body, fence);
}

}  // namespace ptxopt::tool
