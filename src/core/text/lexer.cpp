// The longest run of the automaton is a token, as in ANTLR; states that need no closer look are marked in tables at
// compile time. Three cases leave the fast path: words glued to .target, embedded source text, and runs that end in no
// token.
#include "text/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

#include "PtxLexer.h"
#include "text/tokens.h"

namespace ptxopt::text {
namespace {

using grammar::PtxLexer;

constexpr uint16_t kSkip = 0xffff;
constexpr std::size_t kDead = 0, kStart = 1;
#include "lexer_table.inc"

// Blanks stand before most tokens. They lead to a state of their own, which is left for a token only.
constexpr std::size_t kBlank = kSteps[kStart][static_cast<unsigned char>(' ')];
static_assert(kAccepts[kBlank] == kSkip);

// By state: the type of what ends there and is a token as it stands, which `Lexer::fill` need not look at again; else 0.
constexpr auto kPlain = [] {
  std::array<uint16_t, std::size(kAccepts)> plain{};
  for (std::size_t state = 0; state < plain.size(); ++state) {
    const uint16_t type = kAccepts[state];
    const bool isPlain =
        type != kSkip && type != PtxLexer::TARGET && type != PtxLexer::SOURCE_TEXT && type != PtxLexer::FLOAT;
    plain[state] = isPlain ? type : 0;
  }
  return plain;
}();

// By state: the same where no character leads on from it, as after a comma; else 0.
constexpr auto kWhole = [] {
  std::array<uint16_t, std::size(kAccepts)> whole = kPlain;
  for (std::size_t state = 0; state < whole.size(); ++state)
    for (const auto to : kSteps[state])
      if (to != kDead) whole[state] = 0;
  return whole;
}();

// The state in which the automaton ends, and where.
inline std::size_t run(const char* p, const char* end, const char*& after) {
  std::size_t state = kStart;
  const auto* row = kSteps[state];
  for (; p < end; ++p) {
    const std::size_t to = row[static_cast<unsigned char>(*p)];
    if (to == state) continue;  // inside a name, a number or blanks: no chain of loads
    if (to == kDead) break;
    state = to;
    row = kSteps[state];
  }
  after = p;
  return state;
}

// What the longest text is that begins a run of the automaton and is a token, where the whole run is none. 0: there
// is none.
uint16_t longestBefore(const char* begin, const char*& after) {
  const char* const end = after;
  std::size_t state = kStart;
  uint16_t type = 0;
  after = begin;
  for (const char* p = begin; p < end;) {
    state = kSteps[state][static_cast<unsigned char>(*p++)];
    if (kAccepts[state] == 0) continue;
    type = kAccepts[state];
    after = p;
  }
  return type;
}

// Where a directive is glued to one of the names at `begin`, which stand after `.target`: `sm_90.address_size` is two tokens
// there, and one elsewhere, where it is an opcode. Null: nowhere.
const char* gluedToTarget(const char* begin, const char* end) {
  uint16_t wanted = PtxLexer::WORD;
  for (const char *p = begin, *after = p; p < end; p = after) {
    uint16_t type = kAccepts[run(p, end, after)];
    if (type == 0) type = longestBefore(p, after);
    if (type == kSkip) continue;
    if (type != wanted) break;
    if (const char* const dot = std::find(p, after, '.'); dot != after) return dot;
    wanted = type == PtxLexer::WORD ? PtxLexer::COMMA : PtxLexer::WORD;
  }
  return nullptr;
}

// Where a text goes on after the first line that is `.source_end` and nothing else; npos where there is none.
std::size_t pastSourceEnd(std::string_view source, std::size_t at) {
  constexpr std::string_view kEnd = ".source_end", kBlanks = " \t\r";
  for (at = source.find('\n', at); at != std::string_view::npos; at = source.find('\n', at)) {
    at = std::min(source.find_first_not_of(kBlanks, at + 1), source.size());
    if (!source.substr(at).starts_with(kEnd)) continue;
    const std::size_t past = at + kEnd.size();
    const std::size_t next = source.find_first_not_of(kBlanks, past);
    if (next == std::string_view::npos || source[next] == '\n') return past;
  }
  return std::string_view::npos;
}

}  // namespace

void Lexer::fill(Token* token, Token* last) {
  const char* p = at_;
  const char* end = stop_;
  while (token != last) {
    while (p < end && kSteps[kStart][static_cast<unsigned char>(*p)] == kBlank) ++p;
    token->begin = p;
    if (p == end) {
      if (end != source_.data() + source_.size()) {
        end = stop_ = source_.data() + source_.size();
        continue;
      }
      token->length = 0;
      token->type = Token::kEnd;
      break;
    }
    if (const uint16_t type = kWhole[kSteps[kStart][static_cast<unsigned char>(*p)]]; type != 0) {
      token->type = type;
      token->length = 1;
      ++p;
      ++token;
      continue;
    }
    const char* after = p;
    const std::size_t state = run(p, end, after);
    const uint16_t type = kPlain[state];
    bool isToken = true;
    if (type != 0) {
      token->type = type;
    } else {
      isToken = takeOther(p, after, kAccepts[state], *token);
      after = at_;
      end = stop_;
    }
    token->length = static_cast<uint32_t>(after - p);
    p = after;
    token += isToken;
  }
  at_ = p;
}

// Where the automaton came to an end at `after` with a type, or 0, that takes a closer look: goes on to after it, and says
// whether it is a token.
[[gnu::noinline]] bool Lexer::takeOther(const char* begin, const char* after, uint16_t type, Token& token) {
  const char* const end = source_.data() + source_.size();
  if (type == 0) type = longestBefore(begin, after);
  if (type == 0) type = PtxLexer::ERROR;
  at_ = std::max(after, begin + 1);
  if (type == kSkip) return false;
  if (type == PtxLexer::TARGET)
    if (const char* const glued = gluedToTarget(at_, end)) stop_ = glued;
  if (type == PtxLexer::SOURCE_TEXT) {
    const std::size_t past = pastSourceEnd(source_, static_cast<std::size_t>(at_ - source_.data()));
    if (past == std::string_view::npos)
      type = PtxLexer::ERROR;
    else
      at_ = source_.data() + past;
  }
  if (type == PtxLexer::FLOAT && after[-1] == '.' && after < end &&
      (std::isalpha(static_cast<unsigned char>(*after)) || *after == '_')) {  // `.align 4.b8` is 4 and .b8
    --at_;
    type = PtxLexer::INT;
  }
  token.type = type;
  return true;
}

std::string tokensOf(std::string_view source) {
  std::string all;
  Lexer lexer(source);
  Token token;
  for (lexer.next(token); token.type != Token::kEnd; lexer.next(token)) {
    all.append(token.begin, token.length);
    all += ' ';
  }
  return all;
}

std::string describeError(const Token& token, std::string_view source) {
  const std::string_view rest = source.substr(static_cast<std::size_t>(token.begin - source.data()));
  if (rest.starts_with("/*")) return "unterminated comment";
  if (rest.starts_with('"')) return "unterminated string";
  const auto byte = static_cast<unsigned char>(rest.front());
  return byte > 0x20 && byte < 0x7f ? fmt::format("unexpected '{}'", static_cast<char>(byte))
                                    : fmt::format("unexpected byte 0x{:02x}", byte);
}

}  // namespace ptxopt::text
