// Text to tokens, by the automaton that ANTLR makes of grammar/PtxLexer.g4.
//
// ANTLR's own loop costs some 90 ns a byte: a UTF-32 copy of the input, a heap token, virtual calls for each
// character. Here the same automaton runs from a dense `state x byte` table. ANTLR's simulator fills an entry when
// it is first needed; a run meets about 600 of them. Each thread has its own table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/token.h"

namespace ptxopt::text {

class Automaton;

// A position in a text, which must outlive the tokens. Used by the thread that made it.
class Lexer {
 public:
  explicit Lexer(std::string_view source);

  // Writes the next token: of type Token::kEnd at the end of the source, again and again; of type PtxLexer::ERROR
  // for a byte that begins no token.
  void next(Token& token);

 private:
  Automaton& automaton_;
  std::string_view source_;
  const char* at_;
};

// What is wrong at a token of type PtxLexer::ERROR, or at one that begins a comment without end.
std::string describeError(const Token& token, std::string_view source);

}  // namespace ptxopt::text
