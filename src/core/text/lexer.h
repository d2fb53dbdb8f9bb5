// Text to tokens, by the automaton that ANTLR makes of grammar/PtxLexer.g4.
//
// ANTLR's own loop costs some 90 ns a byte: a UTF-32 copy of the input, a heap token, virtual calls for each
// character. Here the same automaton runs from a dense `state x byte` table, which ANTLR's simulator fills when
// ptxopt is built (grammar/make_lexer_table.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/token.h"

namespace ptxopt::text {

// A position in a text, which must outlive the tokens.
class Lexer {
 public:
  explicit Lexer(std::string_view source)
      : source_(source), at_(source.data()), stop_(source.data() + source.size()) {}

  // Writes the next token: of type Token::kEnd at the end of the source, again and again; of type PtxLexer::ERROR
  // for a byte that begins no token.
  void next(Token& token) { fill(&token, &token + 1); }
  // Writes tokens one after the other, and no more after one at the end of the source.
  void fill(Token* token, Token* last);

 private:
  bool takeOther(const char* begin, const char* after, uint16_t type, Token& token);

  std::string_view source_;
  const char* at_;
  const char* stop_;  // where the token that is being read ends at the latest
};

// What is wrong at a token of type PtxLexer::ERROR, or at one that begins a comment without end.
std::string describeError(const Token& token, std::string_view source);

}  // namespace ptxopt::text
