#include "text/directives.h"

#include "text/lexer.h"
#include "text/token.h"

namespace ptxopt::text {

std::vector<Word> directivesOf(std::string_view source) {
  std::vector<Word> words;
  Lexer lexer(source);
  Token token;
  for (lexer.next(token); token.type != Token::kEnd; lexer.next(token))
    if (token.view().starts_with('.'))
      words.push_back({token.view(), static_cast<std::size_t>(token.begin - source.data())});
  return words;
}

}  // namespace ptxopt::text
