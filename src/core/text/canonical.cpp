// Text that is spelled canonically already is copied after one look at its characters. Other text goes through the
// lexer, and the two tokens around a gap decide whether it becomes a blank, a line or nothing.
#include "text/canonical.h"

#include <array>

#include "PtxLexer.h"
#include "text/lexer.h"

namespace ptxopt::text {
namespace {

using grammar::PtxLexer;

bool isSign(uint16_t type) { return type == PtxLexer::PLUS || type == PtxLexer::MINUS; }

// Whether a blank stands between two tokens of one line.
bool blankBetween(const Token& left, const Token& right) {
  switch (right.type) {
    case PtxLexer::SEMI:
    case PtxLexer::COMMA:
    case PtxLexer::RPAREN:
    case PtxLexer::RBRACKET:
    case PtxLexer::RBRACE:
    case PtxLexer::LESS:
    case PtxLexer::GREATER:
    case PtxLexer::COLON: return false;
    case PtxLexer::LBRACKET: return left.type == PtxLexer::COMMA;
    case PtxLexer::LPAREN:
      return left.type != PtxLexer::INT && left.type != PtxLexer::WORD && left.type != PtxLexer::ATTRIBUTE &&
             left.type != PtxLexer::LPAREN && !isSign(left.type);
    case PtxLexer::PLUS:
    case PtxLexer::MINUS:
      return isSign(left.type) || left.type == PtxLexer::COMMA || left.type == PtxLexer::ASSIGN ||
             left.type == PtxLexer::DIRECTIVE;
    default: break;
  }
  switch (left.type) {
    case PtxLexer::LPAREN:
    case PtxLexer::LBRACKET:
    case PtxLexer::LBRACE:
    case PtxLexer::LESS:
    case PtxLexer::PLUS:
    case PtxLexer::MINUS:
    case PtxLexer::BANG:
    case PtxLexer::TILDE: return false;
    default: return true;
  }
}

// By character: whether names and numbers are made of it.
constexpr auto kIsWord = [] {
  std::array<bool, 256> isWord{};
  for (unsigned c = 0; c < isWord.size(); ++c)
    isWord[c] = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
  return isWord;
}();

// Whether `text` is surely spelled the canonical way already: names, numbers and commas with single blanks. Most
// texts that come here are, and a look is cheaper than the tokens.
bool isCanonical(std::string_view text) {
  const auto isWord = [&](std::size_t i) {
    return i < text.size() && kIsWord[static_cast<unsigned char>(text[i])];
  };
  for (std::size_t i = 0; i < text.size();) {
    if (isWord(i)) {
      while (isWord(i)) ++i;
      continue;
    }
    const char left = i == 0 ? '\0' : text[i - 1];
    if (text[i] == ' ' ? left == ' ' || i == 0 || i + 1 == text.size()
                       : text[i] != ',' || left == ' ' || left == ',' || isWord(i + 1))
      return false;
    ++i;
  }
  return true;
}

// Appends an entry that is a directive, a blank, and a name or decimal numbers with commas up to the end of the line, as most
// of a section are. Its length in the text, at whose beginning it stands; 0: it is another one, and nothing is appended.
std::size_t appendPlainEntry(std::string& out, std::string_view text) {
  const auto isWord = [&](std::size_t at) {
    return at < text.size() && kIsWord[static_cast<unsigned char>(text[at])];
  };
  const auto isDigit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  std::size_t at = 1;
  while (isWord(at)) ++at;
  if (text.empty() || text[0] != '.' || at == 1 || at >= text.size() || text[at] != ' ') return 0;
  const std::size_t value = ++at, before = out.size();
  out.append("\n\t").append(text.substr(0, value));
  if (isWord(at) && !isDigit(at)) {
    while (isWord(at)) ++at;
    out.append(text.substr(value, at - value));
  } else {
    for (std::size_t number = at;; number = ++at) {
      while (isDigit(at)) ++at;
      out.append(text.substr(number, at - number));
      if (at == number || at >= text.size() || text[at] != ',') break;
      out.append(", ");
    }
  }
  // A number after the last comma may stand on the next line.
  if (at != value && at < text.size() && text[at] == '\n' && text[at - 1] != ',') return at;
  out.resize(before);
  return 0;
}

}  // namespace

void appendCanonical(std::string& out, std::string_view text) {
  if (isCanonical(text)) {
    out += text;
    return;
  }
  Lexer lexer(text);
  Token left, token;
  for (lexer.next(token); token.type != Token::kEnd; lexer.next(token)) {
    if (left.begin != nullptr && blankBetween(left, token)) out += ' ';
    out += token.view();
    left = token;
  }
}

void appendCanonicalHeader(std::string& out, std::string_view text) {
  Lexer lexer(text);
  Token left, token;
  int depth = 0;
  bool named = false;   // past the function's name
  bool inList = false;  // in the parameters after it
  for (lexer.next(token); token.type != Token::kEnd; lexer.next(token)) {
    const bool first = left.begin == nullptr;
    const bool opens = token.type == PtxLexer::LPAREN, closes = token.type == PtxLexer::RPAREN;
    const bool isDirective = token.type == PtxLexer::DIRECTIVE || token.type == PtxLexer::PRAGMA;
    if (inList && depth == 1 && closes)
      out += left.type == PtxLexer::LPAREN ? "" : "\n";
    else if (inList && depth == 1 && (left.type == PtxLexer::LPAREN || left.type == PtxLexer::COMMA))
      out += "\n\t";
    else if (named && depth == 0 && isDirective)
      out += '\n';
    else if (!first && blankBetween(left, token) && !(named && depth == 0 && opens))
      out += ' ';
    out += token.view();

    if (opens) {
      inList = inList || (named && depth == 0);
      ++depth;
    }
    if (closes && --depth == 0) inList = false;
    if (depth == 0 && (token.type == PtxLexer::WORD || token.type == PtxLexer::REG)) named = true;
    left = token;
  }
}

void appendCanonicalSection(std::string& out, std::string_view text) {
  Lexer lexer(text);
  Token left, token;
  bool inBody = false, atStart = false, closed = false;
  // Inside the braces an entry begins at a directive that is not a value, or at a label.
  bool wantsValue = false;
  const char* const end = text.data() + text.size();
  const auto appendPlainEntries = [&](const char* at) {
    const char* const begin = at;
    for (;;) {
      while (at != end && (*at == '\n' || *at == ' ' || *at == '\t')) ++at;
      const std::size_t length = appendPlainEntry(out, {at, end});
      if (length == 0) break;
      left.type = PtxLexer::WORD;
      at += length;
    }
    if (at != begin) lexer = Lexer({at, end});
  };
  for (lexer.next(token); token.type != Token::kEnd; lexer.next(token)) {
    if (!inBody) {
      if (left.begin != nullptr) out += ' ';
      out += token.view();
      inBody = token.type == PtxLexer::LBRACE;
      left = token;
      continue;
    }
    closed = token.type == PtxLexer::RBRACE;
    const bool separator = token.type == PtxLexer::COMMA || isSign(token.type);
    atStart =
        closed || (!wantsValue && !separator && token.type != PtxLexer::COLON && token.type != PtxLexer::SEMI);
    if (atStart) {
      out += closed ? "\n" : "\n\t";
    } else if (blankBetween(left, token)) {
      out += ' ';
    }
    out += token.view();
    wantsValue = separator || (atStart && token.type == PtxLexer::DIRECTIVE);
    left = token;
    if (!wantsValue) appendPlainEntries(token.end());
  }
}

}  // namespace ptxopt::text
