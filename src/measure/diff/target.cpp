// What PTX files and file names say of architectures.
#include <algorithm>

#include "diff/measure.h"
#include "target/target.h"

namespace ptxopt::diff {
namespace {

bool isWord(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Moves `at` after blanks and comments.
void skipBlanks(std::string_view text, std::size_t& at) {
  for (;;) {
    const std::string_view rest = text.substr(std::min(at, text.size()));
    std::size_t n = rest.find_first_not_of(" \t\r\n\v\f");
    if (n == std::string_view::npos) n = rest.size();
    if (const std::string_view tail = rest.substr(n); tail.starts_with("//"))
      n += std::min(tail.size(), tail.find('\n'));
    else if (tail.starts_with("/*"))
      n += std::min(tail.size() - 2, tail.find("*/", 2)) + 2;
    if (n == 0) return;
    at += n;
  }
}

std::string_view word(std::string_view text, std::size_t& at) {
  const std::size_t begin = at;
  while (at < text.size() && isWord(text[at])) ++at;
  return text.substr(begin, at - begin);
}

}  // namespace

std::vector<std::string> targetWords(std::string_view text) {
  std::vector<std::string> words;
  // Only `.version NUMBER` may stand before it; anything else is passed over a character at a time.
  for (std::size_t at = 0; at < text.size();) {
    skipBlanks(text, at);
    if (!text.substr(std::min(at, text.size())).starts_with(".target")) {
      ++at;
      continue;
    }
    at += std::string_view(".target").size();
    for (;;) {
      skipBlanks(text, at);
      const std::string_view found = word(text, at);
      if (found.empty()) return words;
      words.emplace_back(found);
      skipBlanks(text, at);
      if (at >= text.size() || text[at] != ',') return words;
      ++at;
    }
  }
  return words;
}

std::string_view stemOf(std::string_view file) {
  const std::size_t dot = file.rfind('.');
  if (dot == std::string_view::npos || file.find('/', dot) != std::string_view::npos) return file;
  std::string_view stem = file.substr(0, dot);
  for (;;) {
    const std::size_t before = stem.rfind('.');
    if (before == std::string_view::npos || !target::numberOf(stem.substr(before + 1))) return stem;
    stem = stem.substr(0, before);
  }
}

}  // namespace ptxopt::diff
