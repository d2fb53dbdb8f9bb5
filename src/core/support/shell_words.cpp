#include "support/shell_words.h"

#include <utility>

namespace ptxopt {

std::optional<std::vector<std::string>> splitShellWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inWord = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (quote == '\'') {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\\' && next != '\0' &&
               (quote == 0 || std::string_view("\"\\$`").find(next) != std::string_view::npos)) {
      word += next;
      inWord = true;
      ++i;
    } else if (quote == '"') {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      inWord = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (inWord) words.push_back(std::exchange(word, {}));
      inWord = false;
    } else {
      word += c;
      inWord = true;
    }
  }
  if (quote != 0) return std::nullopt;
  if (inWord) words.push_back(word);
  return words;
}

}  // namespace ptxopt
