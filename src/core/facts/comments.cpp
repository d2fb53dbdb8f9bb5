#include "facts/comments.h"

#include <algorithm>

#include "text/lexer.h"

namespace ptxopt::facts {
namespace {

bool saysFacts(std::string_view comment) {
  if (!comment.starts_with(kFactsComment)) return false;
  constexpr std::string_view kAfter = " \t\r\f\n{";
  return comment.size() == kFactsComment.size() || kAfter.find(comment[kFactsComment.size()]) != kAfter.npos;
}

// From `at` to the end stand blanks and comments: what is between two tokens.
void findInTrivia(std::string_view text, std::size_t at, std::vector<std::size_t>& found) {
  while ((at = text.find('/', at)) != std::string_view::npos) {
    const bool isBlock = text.substr(at).starts_with("/*");
    if (saysFacts(text.substr(at))) found.push_back(at);
    at = isBlock ? text.find("*/", at + 2) : text.find('\n', at);
    if (at == std::string_view::npos) return;
    at += isBlock ? 2 : 1;
  }
}

}  // namespace

std::vector<std::size_t> factsComments(std::string_view text) {
  std::vector<std::size_t> found;
  if (text.find(kFactsComment) == std::string_view::npos) return found;
  text::Lexer lexer(text);
  text::Token token;
  for (std::size_t at = 0;;) {
    lexer.next(token);
    const bool isEnd = token.type == text::Token::kEnd;
    const std::size_t begin = isEnd ? text.size() : static_cast<std::size_t>(token.begin - text.data());
    findInTrivia(text.substr(0, begin), at, found);
    if (isEnd) return found;
    at = begin + std::max<std::size_t>(token.length, 1);
  }
}

std::string withoutFactsComments(std::string_view text) {
  std::string out;
  std::size_t at = 0;
  for (const std::size_t comment : factsComments(text)) {
    out += text.substr(at, comment + 2 - at);
    out += ' ';
    at = comment + 2;
  }
  return out += text.substr(at);
}

}  // namespace ptxopt::facts
